import { afterAll, describe, expect, it } from 'vitest';
import { egressToHere, startTarget } from '../egress/targets.ts';
import { signUpAll, startServer } from '../support/server.ts';

const DESCRIPTION = { openapi: '3.1.0', info: { title: 'Time' }, paths: {} };
const answers: Record<string, [status: number, body: string]> = {
  '/openapi.json': [200, JSON.stringify(DESCRIPTION)],
  '/page': [200, '<html>'],
  '/list': [200, '[]'],
};
const target = await startTarget(({ url }, response) => {
  const [status, body] = answers[url] ?? [404, 'no'];
  response.writeHead(status).end(body);
});
const egress = egressToHere();
const server = await startServer({ egress });
const { as } = server;
afterAll(async () => {
  await server.close();
  await egress.close();
  await target.close();
});
const [root, user] = await signUpAll(server, 'Root', 'User');
const PATH = 'POST /configs/tool_servers/verify';
const connection = { url: target.url, path: 'openapi.json', auth_type: 'bearer', key: 'sk-time' };
const verify = (change: object = {}) => as(root)(PATH, { ...connection, ...change });

describe('the check of a tool server', () => {
  it('returns its description, requested with the key and the headers', async () => {
    const { status, body } = await verify({ headers: { 'X-Team': 'blue' } });
    expect([status, body]).toEqual([200, DESCRIPTION]);
    expect(target.heard.at(-1)?.headers).toMatchObject({ authorization: 'Bearer sk-time', 'x-team': 'blue' });
    expect((await verify({ path: `${target.url}/openapi.json` })).body).toEqual(DESCRIPTION);
  });

  it('uses the stored key for a mask, only at the same address', async () => {
    await as(root)('POST /configs/tool_servers', { TOOL_SERVER_CONNECTIONS: [connection] });
    await verify({ key: '********' });
    expect(target.heard.at(-1)?.headers.authorization).toBe('Bearer sk-time');
    await verify({ key: '********', path: 'list' });
    expect(target.heard.at(-1)?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['a page', { path: 'page' }, 400],
    ['a list', { path: 'list' }, 400],
    ['a missing page', { path: 'none' }, 400],
    ['another protocol', { type: 'mcp' }, 400],
    ['a header that cannot be sent', { headers: { 'a b': 'x' } }, 400],
    ['an address that may not be called', { url: 'ftp://x' }, 400],
  ])('refuses %s', async (_what, change, status) => {
    expect((await verify(change)).status).toBe(status);
  });

  it('requires an administrator', async () => {
    expect((await as(user)(PATH, connection)).status).toBe(403);
    expect((await server.call(PATH, { body: connection })).status).toBe(401);
  });
});

it('members may read the default metadata of models', async () => {
  const { body } = await as(user)('GET /configs/models/defaults');
  expect(body).toEqual({ DEFAULT_MODEL_METADATA: {} });
});
