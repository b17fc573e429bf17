import { isObject } from '../core/json/json.ts';
import type { Connection } from './connection.ts';
import type { Connected } from './connections.settings.ts';
import { askWithin, failed, failureOf } from './providers.failures.ts';
import type { ProviderModel } from './providers.types.ts';

/** How long a list is used before the provider is asked again. */
const KEPT_MS = 5 * 60_000;
/** The same without `models.base_models_cache`. */
const BARELY_KEPT_MS = 30_000;
const FIRST_RETRY_MS = 2_000;
const LAST_RETRY_MS = 5 * 60_000;
const PATIENCE_MS = 15_000;
const MOST_MODELS = 10_000;

type Listed = Omit<ProviderModel, 'connections'>;

/** The models of one connection. They are fetched in the background, and no call waits for them. */
export class ModelList {
  /** From the last list that came. */
  models: readonly Listed[] = [];
  /** `asking`: for the first time. */
  state: 'asking' | 'ok' | 'failed' = 'asking';
  /** Why the last attempt failed; empty otherwise. */
  detail = '';
  readonly #connection: Connection;
  readonly #isCached: () => boolean;
  readonly #onChange: () => void;
  readonly #ended = new AbortController();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;

  constructor(
    connection: Connection,
    { isCached, onChange }: { isCached: () => boolean; onChange: () => void },
  ) {
    this.#connection = connection;
    this.#isCached = isCached;
    this.#onChange = onChange;
    void this.refresh();
  }

  /** Asks the provider now. Never fails. */
  async refresh(): Promise<void> {
    if (this.#isAsking || this.#ended.signal.aborted) return;
    this.#isAsking = true;
    clearTimeout(this.#timer);
    try {
      const limits = { ms: PATIENCE_MS, signal: this.#ended.signal };
      this.models = await listModels(this.#connection, limits);
      this.state = 'ok';
      this.detail = '';
      this.#failures = 0;
    } catch (error) {
      this.state = 'failed';
      this.detail = failureOf(this.#connection.settings, error).message;
      this.#failures += 1;
    }
    this.#isAsking = false;
    if (this.#ended.signal.aborted) return;
    this.#timer = setTimeout(() => void this.refresh(), this.#wait()).unref();
    this.#onChange();
  }

  close(): void {
    this.#ended.abort();
    clearTimeout(this.#timer);
  }

  #wait(): number {
    if (this.#failures === 0) return this.#isCached() ? KEPT_MS : BARELY_KEPT_MS;
    // The model on board is asked within the process: it answers as soon as its weights are there.
    if (this.#connection.settings.kind === 'board') return FIRST_RETRY_MS / 4;
    return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
  }
}

/** @throws provider_timeout, and what the client of the provider throws */
export async function listModels(
  connection: Connection,
  limits: { ms: number; signal: AbortSignal },
): Promise<Listed[]> {
  const { settings } = connection;
  if (settings.modelIds.length > 0) return settings.modelIds.map((id) => describeModel(settings, { id }));
  const client = await connection.client();
  // Anthropic's list asks for other headers than its door for OpenAI's clients.
  const headers = isAnthropic(settings)
    ? { 'x-api-key': settings.key, 'anthropic-version': '2023-06-01' }
    : {};
  const answer = await askWithin(settings, limits, (signal) =>
    client.get<unknown>('/models', { signal, headers }),
  );
  const data = isObject(answer) ? (answer.data ?? answer.models) : answer;
  if (!Array.isArray(data)) throw failed(`${settings.name} sent a list of models that is none.`);
  return data
    .slice(0, MOST_MODELS)
    .filter((model) => isObject(model) && typeof model.id === 'string' && isOffered(settings, model.id))
    .map((model) => describeModel(settings, model));
}

const isAnthropic = ({ baseUrl }: Connected) => URL.parse(baseUrl)?.hostname === 'api.anthropic.com';

const MOST_CHARACTERS = 256;
/** OpenAI lists models beside those that chat or embed. */
const NO_CHAT = /tts|whisper|dall-e|davinci|babbage|moderation/;

const isOffered = ({ baseUrl }: Connected, id: string): boolean =>
  id !== '' &&
  id.length <= MOST_CHARACTERS &&
  !/\s/.test(id) &&
  !(URL.parse(baseUrl)?.hostname === 'api.openai.com' && NO_CHAT.test(id));

function describeModel(settings: Connected, raw: Record<string, unknown>): Listed {
  const { prefix, tags, kind, connectionType } = settings;
  const own = String(raw.id);
  const id = prefix === '' ? own : `${prefix}.${own}`;
  return {
    id,
    name: typeof raw.name === 'string' && raw.name !== '' ? raw.name.slice(0, MOST_CHARACTERS) : id,
    created: typeof raw.created === 'number' ? raw.created : 0,
    owned_by: kind === 'board' ? 'parley' : kind === 'ollama' ? 'ollama' : 'openai',
    connection_type: connectionType,
    tags,
    context_length: contextOf(raw),
    isOnBoard: kind === 'board',
    raw,
  };
}

/** OpenRouter, vLLM, llama.cpp, LM Studio and Mistral name it differently. */
function contextOf(raw: Record<string, unknown>): number | null {
  const meta = isObject(raw.meta) ? raw.meta : {};
  const said = [
    raw.context_length,
    raw.max_model_len,
    raw.max_context_length,
    meta.n_ctx,
    meta.n_ctx_train,
    raw.context_window,
  ];
  return said.find((size): size is number => typeof size === 'number' && size > 0) ?? null;
}
