import type { OpenAI } from 'openai';
import { APIError } from 'openai/core/error';
import { isObject } from '../core/json/json.ts';
import type { Way } from '../egress/way.ts';
import type { Connected } from './connections.settings.ts';
import { Places } from './places.ts';
import { type ToldCall, tellCall } from './providers.calls.ts';
import { askWithin, failed, failureOf, ProviderFailure } from './providers.failures.ts';
import type { ChatCall } from './providers.types.ts';
import { type ChatAnswer, openChat } from './stream/chat.ts';
import { ChunkReader } from './stream/chunks.ts';

/** The most bytes of one answer of a provider. */
export const ANSWER_BYTES = 64 * 1024 ** 2;
const EMBED_MS = 120_000;
/** A connection that failed is asked after the others for so long. */
const DISTRUST_MS = 30_000;

type EmbedParams = Omit<OpenAI.EmbeddingCreateParams, 'model'>;

const hasEmbeddings = (answer: unknown): boolean =>
  isObject(answer) &&
  Array.isArray(answer.data) &&
  answer.data.every(
    (one) => isObject(one) && (Array.isArray(one.embedding) || typeof one.embedding === 'string'),
  );

/** One connection to a provider, in this process. */
export class Connection {
  readonly settings: Connected;
  readonly places: Places;
  readonly #way: Pick<Way, 'fetch' | 'close'>;
  #client: Promise<OpenAI> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;

  readonly #onFailure: (failure: ProviderFailure) => void;

  /** @param onFailure gets each failure of the provider, also in the middle of a stream */
  constructor(
    settings: Connected,
    way: Pick<Way, 'fetch' | 'close'>,
    onFailure: (failure: ProviderFailure) => void = () => {},
  ) {
    this.settings = settings;
    this.#way = way;
    this.#onFailure = onFailure;
    this.places = new Places(settings.concurrency);
  }

  get name(): string {
    return this.settings.name;
  }

  /** For the choice between connections: calls under way and waiting; a connection that has just failed comes last. */
  get load(): number {
    const isDistrusted = performance.now() - this.#failedAt < DISTRUST_MS;
    return this.places.taken + this.places.waiting + (isDistrusted ? 1e6 : 0);
  }

  /** Resolves with the first token. @throws ProviderFailure, rate_limited, the reason of the signal */
  async chat(call: ChatCall): Promise<ChatAnswer> {
    const giveBack = await this.places.take(call.person, call.signal);
    const told = tellCall(this.settings, 'chat', call.model);
    try {
      const { settings } = this;
      const body = {
        ...call.params,
        ...settings.extraParams,
        model: this.#ownId(call.model),
        stream: true,
      } as const;
      for (const [name, value] of Object.entries(settings.extraParams)) {
        if (value === null) Reflect.deleteProperty(body, name);
      }
      const answer = await openChat({
        ask: async (signal) => {
          const { completions } = (await this.client()).chat;
          const asked = completions.create(body as OpenAI.ChatCompletionCreateParamsStreaming, {
            signal,
            headers: told.headers,
          });
          const response = await asked.asResponse();
          told.hear(response.headers);
          return new ChunkReader(response);
        },
        settings,
        signal: call.signal,
        onEnd: () => {
          told.span?.end();
          giveBack();
        },
        onFailure: (failure) => this.#note(failure, told),
      });
      told.span?.note('first token');
      return answer;
    } catch (error) {
      giveBack();
      throw this.#fail(error, call.signal, told);
    }
  }

  /** @throws as `chat` */
  async embed(
    call: Omit<ChatCall, 'params'> & { params: EmbedParams },
  ): Promise<OpenAI.CreateEmbeddingResponse> {
    const giveBack = await this.places.take(call.person, call.signal);
    const told = tellCall(this.settings, 'embeddings', call.model);
    try {
      const client = await this.client();
      // Otherwise the client asks for base64, which not every provider knows.
      const asked = { encoding_format: 'float', ...call.params };
      const body = { ...asked, ...this.settings.extraParams, model: this.#ownId(call.model) };
      const limits = { ms: Math.min(EMBED_MS, this.settings.totalMs), signal: call.signal };
      const answer = await askWithin(this.settings, limits, (signal) => {
        const { headers } = told;
        return client.embeddings.create(body as OpenAI.EmbeddingCreateParams, { signal, headers });
      });
      if (!hasEmbeddings(answer)) throw failed(`${this.name} sent an answer without embeddings.`);
      return answer;
    } catch (error) {
      throw this.#fail(error, call.signal, told);
    } finally {
      told.span?.end();
      giveBack();
    }
  }

  /** Loaded for the first call: the library takes 10 MB. */
  client(): Promise<OpenAI> {
    this.#client ??= import('openai').then(({ OpenAI }) => {
      const { baseUrl, key, headers } = this.settings;
      return new OpenAI({
        baseURL: baseUrl,
        apiKey: key || 'none',
        // Never from the environment of the server.
        organization: null,
        project: null,
        defaultHeaders: { ...(key === '' && { authorization: null }), ...headers },
        fetch: this.#way.fetch,
        maxRetries: 0,
        timeout: 24 * 3_600_000,
        logLevel: 'off',
      });
    });
    return this.#client;
  }

  /** Ends all calls under way. */
  close(): void {
    this.#way.close();
  }

  #fail(error: unknown, signal: AbortSignal, told: ToldCall): unknown {
    if (error instanceof APIError) told.hear(error.headers);
    const reason = signal.aborted ? signal.reason : failureOf(this.settings, error);
    if (reason instanceof ProviderFailure && !signal.aborted) this.#note(reason, told);
    told.span?.end(reason);
    return reason;
  }

  #note(failure: ProviderFailure, { id, span }: ToldCall): void {
    span?.end(failure);
    failure.connection = this.name;
    failure.providerRequestId = id;
    if (failure.isReplaceable) this.#failedAt = performance.now();
    this.#onFailure(failure);
  }

  /** The id without our prefix. */
  #ownId(id: string): string {
    const { prefix } = this.settings;
    return prefix !== '' && id.startsWith(`${prefix}.`) ? id.slice(prefix.length + 1) : id;
  }
}
