import type { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { isObject } from '../core/json/json.ts';
import type { Scope } from '../core/scope.ts';
import { MASK, mapSecrets } from '../core/secrets/masks.ts';
import { ANSWER_BYTES, Connection } from './connection.ts';
import type { VerifiedModels, VerifiedOllama, VerifyInput } from './connections.schema.ts';
import { type Connected, connectionOf, connectionsOf } from './connections.settings.ts';
import { listModels } from './list.ts';
import { askWithin, failed, failureOf } from './providers.failures.ts';
import type { TestInput, TestReport } from './providers.schema.ts';

const STEP_MS = 10_000;
/** A local server may load the model first. */
const TOKEN_MS = 60_000;

type Input = z.infer<typeof TestInput>;
type Asked = Omit<Input, 'model'>;
type Step = TestReport['steps'][number];

/** Tries a connection as the registry would use it, and reports each step. */
export async function testProvider(scope: Scope, input: Input): Promise<TestReport> {
  const settings = settingsOf(scope, input);
  const way = scope.egress.open(settings.baseUrl, { maxBytes: ANSWER_BYTES });
  const connection = new Connection(settings, way);
  const steps: Step[] = [];
  const signal = signalOf(scope);
  try {
    await run(steps, settings, 'resolve', async () => {
      const found = await way.resolve();
      return `It has the address${found.length === 1 ? '' : 'es'} ${found.join(', ')}.`;
    });
    await run(steps, settings, 'connect', async () => {
      await way.probe(STEP_MS);
      return 'The port is open.';
    });
    let ids: string[] = [];
    await run(steps, settings, 'authorise', async () => {
      ids = (await listModels(connection, { ms: STEP_MS, signal })).map(({ id }) => id);
      if (settings.modelIds.length > 0) return 'The list of models is fixed, so no list was asked for.';
      return settings.key === '' ? 'It asks for no key.' : 'It accepts the key.';
    });
    await run(steps, settings, 'models', async () => {
      if (ids.length === 0) throw new AppError('upstream_failed', { detail: 'It lists no models.' });
      return `It lists ${ids.length === 1 ? '1 model' : `${ids.length} models`}.`;
    });
    await run(steps, settings, 'first_token', async () => {
      const model = input.model ?? ids[0] ?? '';
      const params = { messages: [{ role: 'user' as const, content: 'Say hi.' }], max_tokens: 16 };
      const answer = await connection.chat({ model, params, person: scope.actor.id, signal });
      answer.end();
      return `${model} answers.`;
    });
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
  } finally {
    connection.close();
  }
  return { ok: steps.every(({ ok }) => ok), steps };
}

/** The models of a provider, as it lists them. @throws provider_failed, provider_timeout, rate_limited, bad_request */
export const verifyHosted = (
  scope: Scope,
  input: z.infer<typeof VerifyInput>,
): Promise<z.infer<typeof VerifiedModels>> =>
  withConnection(scope, { ...input, kind: 'hosted' }, async (connection, limits) => {
    const models = await listModels(connection, limits);
    return { object: 'list', data: models.map(({ raw, id }) => ({ ...raw, id })) };
  });

/** The version of an Ollama server. @throws as `verifyHosted` */
export const verifyOllama = (
  scope: Scope,
  input: z.infer<typeof VerifyInput>,
): Promise<z.infer<typeof VerifiedOllama>> =>
  withConnection(scope, { ...input, kind: 'ollama' }, async (connection, limits) => {
    const client = await connection.client();
    const { settings } = connection;
    const answer = await askWithin(settings, limits, (signal) =>
      client.get<unknown>(settings.baseUrl.replace(/v1$/, 'api/version'), { signal }),
    );
    if (isObject(answer) && typeof answer.version === 'string') return { version: answer.version };
    throw failed(`${settings.name} does not answer as an Ollama server does.`);
  });

/** Asks a connection that is not stored something, as the registry would use it. */
async function withConnection<T>(
  scope: Scope,
  input: Asked,
  ask: (connection: Connection, limits: { ms: number; signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const settings = settingsOf(scope, input);
  const connection = new Connection(
    settings,
    scope.egress.open(settings.baseUrl, { maxBytes: ANSWER_BYTES }),
  );
  try {
    return await ask(connection, { ms: STEP_MS, signal: signalOf(scope) });
  } catch (error) {
    throw failureOf(settings, error);
  } finally {
    connection.close();
  }
}

const signalOf = ({ signal }: Scope): AbortSignal => signal ?? new AbortController().signal;

/** The step failed and was noted: no further one is tried. */
class Failed extends Error {}

async function run(steps: Step[], settings: Connected, step: Step['step'], work: () => Promise<string>) {
  const started = performance.now();
  const note = (ok: boolean, detail: string) =>
    steps.push({ step, ok, detail, duration_ms: Math.round(performance.now() - started) });
  try {
    note(true, await work());
  } catch (error) {
    note(false, failureOf(settings, error).message);
    throw new Failed();
  }
}

/** A key that is left out or masked is the one that the configuration has for the same address. */
function settingsOf({ configs }: Scope, { kind, url, key, config }: Asked): Connected {
  const { baseUrl } = connectionOf(kind, url, '', {});
  const stored = connectionsOf(configs.current, 'all').find((one) => one.baseUrl === baseUrl);
  // Ollama's settings hold the key.
  const given = [key, config?.key].find((one) => typeof one === 'string' && one !== MASK);
  const clear = mapSecrets({ headers: config?.headers ?? {} }, (value, { path }) =>
    value === MASK ? (stored?.headers[path.slice('headers.'.length)] ?? '') : value,
  );
  const settings = connectionOf(kind, url, String(given ?? stored?.key ?? ''), {
    ...config,
    key: undefined,
    headers: clear.headers,
  });
  return { ...settings, firstTokenMs: Math.min(settings.firstTokenMs, TOKEN_MS), totalMs: 2 * TOKEN_MS };
}
