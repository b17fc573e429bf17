import { afterAll, expect, it } from 'vitest';
import { signUp, startServer } from '../support/server.ts';

/** Validation errors must be readable for people who know no schemas. */
const server = await startServer();
afterAll(() => server.close());
const root = await signUp(server, 'Root');

const SIGN_IN = 'POST /auths/signin';
const BANNERS = 'POST /configs/banners';

it.each<[string, unknown, string]>([
  [SIGN_IN, {}, 'email: is missing'],
  [SIGN_IN, { email: null, password: 'x' }, 'email: must be a text'],
  [SIGN_IN, { email: 'a@example.com', password: '' }, 'password: must not be empty'],
  ['POST /users/default/permissions', { workspace: {} }, 'sharing: is missing'],
  ['POST /users/default/permissions', { workspace: [] }, 'workspace: must be an object'],
  [
    'POST /groups/create',
    { name: 'x', description: 'x', permissions: { a: { b: 1 } } },
    'permissions.a.b: must be true or false',
  ],
  [
    'POST /users',
    { name: 'x', email: 'x@example.com', password: 'x', role: 'root' },
    'role: must be one of "admin", "user", "pending"',
  ],
  [BANNERS, { banners: {} }, 'banners: must be a list'],
  [
    BANNERS,
    { banners: [{ id: 'x', type: 'info', content: '', dismissible: true, timestamp: 1.5 }] },
    'banners.0.timestamp: must be a whole number',
  ],
  ['GET /users?limit=0', undefined, 'limit: must be at least 1'],
  ['GET /users?limit=201', undefined, 'limit: must be at most 200'],
  ['GET /users?page=x', undefined, 'page: must be a number'],
  [
    'POST /auths/admin/config',
    { FOLDER_MAX_FILE_COUNT: [] },
    'FOLDER_MAX_FILE_COUNT: is none of what it may be',
  ],
])('%s %j: %s', async (request, body, detail) => {
  const answer = await server.as(root)(request, body);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation']);
  const said = answer.body.issues.map(
    ({ path, message }: { path: string; message: string }) => `${path}: ${message}`,
  );
  expect(said).toContain(detail);
  expect(answer.body.detail).toBe(said[0]);
});
