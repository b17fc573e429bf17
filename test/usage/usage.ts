import { connectProvider, type ScriptedProvider, startProvider } from '../support/provider.ts';
import type { Answer, Person, TestServer } from '../support/server.ts';

export const configure = async (
  server: TestServer,
  administrator: Person,
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape of its part
  change: (config: any) => void,
): Promise<Answer> => {
  const ask = server.as(administrator);
  const { body: config } = await ask('GET /configs/export?secrets=true');
  change(config);
  return ask('POST /configs/import', config);
};

/** A provider that all members of the server may use, with these models. */
export async function openProvider(
  server: TestServer,
  administrator: Person,
  ...models: string[]
): Promise<ScriptedProvider> {
  const provider = await startProvider(...models);
  await configure(server, administrator, (config) => {
    config.models.open_provider_models = true;
  });
  await connectProvider(server, administrator, provider);
  return provider;
}

export const limitTo = async (
  server: TestServer,
  administrator: Person,
  ...limits: object[]
): Promise<void> => {
  const { status, body } = await configure(server, administrator, (config) => {
    config.usage = { ...config.usage, limits };
  });
  if (status !== 200) throw new Error(`The limits were refused: ${JSON.stringify(body)}`);
};

/** Asks for a completion. @param more members of the request */
export const chat = (server: TestServer, person: Person, more: object = {}): Promise<Answer> =>
  server.as(person)('POST /chat/completions', {
    model: 'small',
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 20,
    ...more,
  });
