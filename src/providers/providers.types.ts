import type { OpenAI } from 'openai';

export type ChatParams = OpenAI.ChatCompletionCreateParamsStreaming;
export type ChatChunk = OpenAI.ChatCompletionChunk;
export type ChatMessage = OpenAI.ChatCompletionMessageParam;

declare module '../core/scope.ts' {
  interface Parts {
    readonly providers: Providers;
  }
}

/** A model as the connections of the configuration offer it; `models/` puts records over these. */
export interface ProviderModel {
  /** With the prefix of its connection. */
  readonly id: string;
  readonly name: string;
  /** Unix seconds; 0 when the provider does not say. */
  readonly created: number;
  readonly owned_by: 'openai' | 'ollama' | 'parley';
  readonly connection_type: 'external' | 'local';
  readonly tags: readonly { name: string }[];
  /** The names of the connections that offer it. */
  readonly connections: readonly string[];
  /** The size of its context in tokens; null when the provider does not say. */
  readonly context_length: number | null;
  /** The model on board: every member may use it. */
  readonly isOnBoard: boolean;
  /** As the provider lists it. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface ChatCall {
  /** The id of a provider model. */
  model: string;
  /** The members of an OpenAI request but `model` and `stream`; members that OpenAI does not know pass through as well. */
  params: Omit<ChatParams, 'model' | 'stream'>;
  /** The account that waits: the places of a connection are shared fairly between people. */
  person: string;
  /** Ends the call: the connection to the provider closes at once. */
  signal: AbortSignal;
}

/** The chunks of one answer, as the provider sends them. Leaving the loop ends the call. */
export interface ChatStream extends AsyncIterable<ChatChunk> {
  /** The name of the connection that answers. */
  readonly connection: string;
}

/** A connection, for administrators. */
export interface ConnectionState {
  name: string;
  kind: 'hosted' | 'ollama' | 'board';
  url: string;
  /** Of the list of models; `asking` until the first answer. */
  state: 'asking' | 'ok' | 'failed';
  /** Why the provider did not answer; empty otherwise. */
  detail: string;
  /** How many models it offers. */
  models: number;
  /** Calls under way, and calls that wait for a place. */
  running: number;
  waiting: number;
}

/** The connections to model providers in this process. */
export interface Providers {
  /** All models of all connections, from the cache. */
  models(): readonly ProviderModel[];
  model(id: string): ProviderModel | undefined;
  states(): ConnectionState[];
  /** Asks all providers for their models, in the background. */
  refresh(): void;
  /**
   * Asks for a completion, and resolves with the first chunk. Before it, a connection that fails is replaced by another one that has the
   * model. The usage comes with the last chunk where the provider counts it.
   *
   * @throws model_not_found; provider_failed and provider_timeout, which the loop over the chunks throws as well; rate_limited when too many
   *   calls wait for the connection
   */
  chat(call: ChatCall): Promise<ChatStream>;
  /** @throws as `chat` */
  embed(
    call: Omit<ChatCall, 'params'> & { params: Omit<OpenAI.EmbeddingCreateParams, 'model'> },
  ): Promise<OpenAI.CreateEmbeddingResponse & { connection: string }>;
}
