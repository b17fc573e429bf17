import type { Configuration } from '../../src/configs/settings/configs.schema.ts';
import { administer } from '../configs/support.ts';
import { connectProvider, type ScriptedProvider, startProvider } from '../support/provider.ts';
import { type Person, signUpAll, startServer, type TestServer } from '../support/server.ts';

/** A server with one scripted provider, its administrator with an API key, and a member without rights on models. */
export interface Stage {
  server: TestServer;
  provider: ScriptedProvider;
  root: Person;
  ann: Person;
  key: string;
  /** Posts JSON as the administrator, with the key. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export async function openStage(...models: string[]): Promise<Stage> {
  const server = await startServer();
  const provider = await startProvider(...(models.length > 0 ? models : ['small']));
  const [root, ann] = await signUpAll(server, 'Root', 'Ann');
  await administer(server, root).configure(({ auth }: Configuration) => {
    auth.enable_api_keys = true;
  });
  await connectProvider(server, root, provider, { name: 'scripted' });
  const key = await makeKey(server, root);
  return {
    server,
    provider,
    root,
    ann,
    key,
    post: (path, body, headers) => postJson(server.url + path, key, body, headers),
    async close() {
      await server.close();
      await provider.close();
    },
  };
}

/** Makes an API key; with paths, one that reaches only these. */
export async function makeKey(
  server: TestServer,
  person: Person,
  ...allowed_endpoints: string[]
): Promise<string> {
  const { body } = await server.as(person)('POST /auths/api_keys', {
    name: `key ${allowed_endpoints.join()}`,
    ...(allowed_endpoints.length > 0 && { allowed_endpoints }),
  });
  return body.api_key;
}

export const postJson = (url: string, key: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** The `data` of all events of a stream of OpenAI, parsed but for `[DONE]`. */
export const dataOf = (text: string): unknown[] =>
  text.split('\n\n').flatMap((event) => {
    if (!event.startsWith('data: ')) return [];
    const data = event.slice('data: '.length);
    return [data === '[DONE]' ? data : JSON.parse(data)];
  });

export const HELLO = { model: 'small', messages: [{ role: 'user', content: 'Hello' }] };
