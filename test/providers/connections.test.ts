import { afterAll, describe, expect, it } from 'vitest';
import { startTarget } from '../egress/targets.ts';
import { startProvider } from '../support/provider.ts';
import { type Answer, signUpAll, startServer } from '../support/server.ts';

const server = await startServer();
const [root, ann] = await signUpAll(server, 'Root', 'Ann');
const ask = server.as(root);
const provider = await startProvider('small');
const versions = ['0.12.6'];
const ollama = await startTarget(({ url }, response) => {
  const answer = url === '/api/version' ? { version: versions[0] } : { object: 'list', data: [] };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
});
const ollamaUrl = `http://127.0.0.1:${ollama.port}`;
afterAll(async () => {
  await server.close();
  await Promise.all([provider.close(), ollama.close()]);
});

const hosted = {
  ENABLE_OPENAI_API: true,
  OPENAI_API_BASE_URLS: [provider.url, 'https://api.example.com/v1'],
  OPENAI_API_KEYS: ['sk-one', 'sk-two'],
  OPENAI_API_CONFIGS: { '0': { name: 'One' }, '1': { prefix_id: 'two' } },
};

/** A call of a path without `/api`, as the front end of Open WebUI makes it. */
async function atRoot(
  method: string,
  path: string,
  body?: unknown,
  token = root.token,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

describe('connections to OpenAI-compatible providers', () => {
  it('are replaced and read without their keys, at the root and below /api', async () => {
    const masked = { ...hosted, OPENAI_API_KEYS: ['********', '********'] };
    expect(await atRoot('POST', '/openai/config/update', hosted)).toEqual({ status: 200, body: masked });
    expect(await atRoot('GET', '/openai/config')).toEqual({ status: 200, body: masked });
    expect((await ask('GET /openai/config')).body).toEqual(masked);
    const { hosted_model_api } = (await ask('GET /configs/export?secrets=true')).body as never;
    expect(hosted_model_api).toMatchObject({ enable: true, api_keys: ['sk-one', 'sk-two'] });
  });

  it('keep the keys of their addresses, and lose what belongs to a removed address', async () => {
    await atRoot('POST', '/openai/config/update', {
      OPENAI_API_BASE_URLS: ['https://api.example.com/v1'],
      OPENAI_API_KEYS: ['********', 'sk-none'],
      OPENAI_API_CONFIGS: { '0': { prefix_id: 'two' }, '1': { prefix_id: 'none' } },
    });
    const { hosted_model_api } = (await ask('GET /configs/export?secrets=true')).body as never;
    expect(hosted_model_api).toEqual({
      enable: true,
      api_base_urls: ['https://api.example.com/v1'],
      api_keys: ['sk-two'],
      api_configs: { '0': { prefix_id: 'two' } },
    });
  });

  it('refuse a mask at another address, and store nothing', async () => {
    const moved = {
      ...hosted,
      OPENAI_API_BASE_URLS: ['https://evil.example'],
      OPENAI_API_KEYS: ['********'],
    };
    expect((await atRoot('POST', '/openai/config/update', moved)).status).toBe(400);
    expect((await atRoot('GET', '/openai/config')).body.OPENAI_API_BASE_URLS).not.toContain(
      'https://evil.example',
    );
  });

  it('list the models of an address, with its stored key for a mask and never at another address', async () => {
    await atRoot('POST', '/openai/config/update', hosted);
    const verified = await atRoot('POST', '/openai/verify', { url: provider.url, key: '********' });
    expect(verified).toMatchObject({ status: 200, body: { object: 'list', data: [{ id: 'small' }] } });
    const elsewhere = await atRoot('POST', '/openai/verify', { url: `${ollamaUrl}/v1`, key: '********' });
    expect(elsewhere.status).toBe(200);
    expect(ollama.heard.at(-1)?.headers.authorization).toBeUndefined();
  });

  it('list the models also of an address that is switched off, with its stored key', async () => {
    for (const off of [{ ENABLE_OPENAI_API: false }, { OPENAI_API_CONFIGS: { '0': { enable: false } } }]) {
      await atRoot('POST', '/openai/config/update', { ...hosted, ...off });
      const verified = await atRoot('POST', '/openai/verify', { url: provider.url, key: '********' });
      expect(verified.status).toBe(200);
      expect(provider.requests.at(-1)?.headers.authorization).toBe('Bearer sk-one');
    }
  });

  it('name why an address does not work', async () => {
    const { status, body } = await atRoot('POST', '/openai/verify', { url: 'http://127.0.0.1:9/v1' });
    expect([status, body.detail]).toEqual([502, 'The provider cannot be reached.']);
    expect((await atRoot('POST', '/openai/verify', { url: 'file:///etc/passwd' })).status).toBe(400);
  });
});

describe('connections to Ollama servers', () => {
  it('are replaced and read, at the root and below /api', async () => {
    const sent = {
      ENABLE_OLLAMA_API: true,
      OLLAMA_BASE_URLS: [ollamaUrl],
      OLLAMA_API_CONFIGS: { '0': { key: 'secret', tags: [] }, '1': { prefix_id: 'none' } },
    };
    const shown = { ...sent, OLLAMA_API_CONFIGS: { '0': { key: '********', tags: [] } } };
    expect(await atRoot('POST', '/ollama/config/update', sent)).toEqual({ status: 200, body: shown });
    expect(await atRoot('GET', '/ollama/config')).toEqual({ status: 200, body: shown });
    expect((await ask('GET /ollama/config')).body).toEqual(shown);
    const { local_model_server } = (await ask('GET /configs/export?secrets=true')).body as never;
    expect(local_model_server).toEqual({
      enable: true,
      base_urls: [ollamaUrl],
      api_configs: { '0': { key: 'secret', tags: [] } },
    });
  });

  it('are tried with the key of the settings, where that is not the stored one', async () => {
    const verify = async (config: object) => {
      expect((await atRoot('POST', '/ollama/verify', { url: ollamaUrl, config })).status).toBe(200);
      return ollama.heard.at(-1)?.headers.authorization;
    };
    expect(await verify({ key: '********' })).toBe('Bearer secret');
    expect(await verify({ key: 'new' })).toBe('Bearer new');
  });

  it('answer their version, or that they are none', async () => {
    const verify = () => atRoot('POST', '/ollama/verify', { url: ollamaUrl, key: '' });
    expect(await verify()).toEqual({ status: 200, body: { version: '0.12.6' } });
    versions.length = 0;
    expect((await verify()).status).toBe(502);
  });
});

it.each(['GET /openai/config', 'GET /ollama/config'])('%s is for administrators', async (route) => {
  expect((await server.as(ann)(route as 'GET /openai/config')).status).toBe(403);
  expect((await atRoot('GET', route.slice(4), undefined, ann.token)).status).toBe(403);
  expect((await atRoot('GET', route.slice(4), undefined, 'none')).status).toBe(401);
});
