import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { OpenAI } from 'openai';
import type { Logger } from 'pino';
import type { Board } from '../board/board.ts';
import type { ConfigStore } from '../configs/configs.store.ts';
import { AppError } from '../core/errors.ts';
import type { Egress } from '../egress/egress.ts';
import { ANSWER_BYTES, Connection } from './connection.ts';
import { type Connected, connectionsOf, ON_BOARD } from './connections.settings.ts';
import { ModelList } from './list.ts';
import { ProviderFailure } from './providers.failures.ts';
import { countCall } from './providers.metrics.ts';
import type { ChatCall, ChatStream, ConnectionState, ProviderModel, Providers } from './providers.types.ts';

interface Held {
  connection: Connection;
  list: ModelList;
}

interface Sources {
  configs: ConfigStore;
  egress: Egress;
  /** Null when the operator has switched it off. */
  board: Board | null;
  log: Logger;
}

/** The connections in force, with their models. */
export class Registry implements Providers {
  readonly #sources: Sources;
  #held: Held[] = [];
  #models: ReadonlyMap<string, ProviderModel> = new Map();
  #holders: ReadonlyMap<string, Connection[]> = new Map();
  #list: readonly ProviderModel[] = [];

  constructor(sources: Sources) {
    this.#sources = sources;
    this.adopt();
  }

  models(): readonly ProviderModel[] {
    return this.#list;
  }

  model(id: string): ProviderModel | undefined {
    return this.#models.get(id);
  }

  states(): ConnectionState[] {
    return this.#held.map(({ connection: { settings, places }, list }) => ({
      name: settings.name,
      kind: settings.kind,
      url: settings.baseUrl,
      state: list.state,
      detail: list.detail,
      models: list.models.length,
      running: places.taken,
      waiting: places.waiting,
    }));
  }

  async chat(call: ChatCall): Promise<ChatStream> {
    return this.#first(call.model, call.signal, (connection) => connection.chat(call));
  }

  async embed(
    call: Parameters<Providers['embed']>[0],
  ): Promise<OpenAI.CreateEmbeddingResponse & { connection: string }> {
    return this.#first(call.model, call.signal, async (connection) => {
      const answer = await connection.embed(call);
      return { ...answer, connection: connection.name };
    });
  }

  /** Follows the configuration: connections that did not change keep their lists and their calls. */
  adopt(): void {
    const { configs, board } = this.#sources;
    const configured = connectionsOf(configs.current);
    const isOnBoard = configured.length === 0 && board !== null;
    if (isOnBoard) board.begin();
    const wanted = isOnBoard ? [ON_BOARD] : configured;
    const left = [...this.#held];
    this.#held = wanted.map((settings) => {
      const at = left.findIndex(({ connection }) => isDeepStrictEqual(connection.settings, settings));
      return left.splice(at, at === -1 ? 0 : 1)[0] ?? this.#open(settings);
    });
    for (const held of left) void this.#retire(held);
    // An administrator may have mended the provider, too.
    for (const { list } of this.#held) if (list.state === 'failed') void list.refresh();
    this.#collect();
  }

  refresh(): void {
    for (const { list } of this.#held) void list.refresh();
  }

  close(): void {
    for (const { connection, list } of this.#held) {
      list.close();
      connection.close();
    }
  }

  /** Asks the connections that have the model, the least loaded first, until one begins to answer. */
  async #first<T>(
    model: string,
    signal: AbortSignal,
    ask: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const candidates = [...(this.#holders.get(model) ?? [])].sort((a, b) => a.load - b.load);
    let failure: unknown;
    for (const connection of candidates) {
      try {
        const answer = await ask(connection);
        countCall(connection.name, 'begun');
        this.#sources.log.debug({ connection: connection.name, model }, 'A provider of models answers.');
        return answer;
      } catch (error) {
        if (signal.aborted) throw error;
        failure = error;
        if (!(error instanceof ProviderFailure) || !error.isReplaceable) break;
      }
    }
    throw failure ?? new AppError('model_not_found');
  }

  #open(settings: Connected): Held {
    const { configs, egress, board, log } = this.#sources;
    const { name, baseUrl, kind } = settings;
    const way =
      kind === 'board' && board
        ? { fetch: board.fetch, close: () => {} }
        : egress.open(baseUrl, { maxBytes: ANSWER_BYTES });
    const connection = new Connection(settings, way, (failure) => {
      countCall(name, failure.code);
      const { providerRequestId: id, code } = failure;
      const told = { connection: name, ...(id && { provider_request_id: id }) };
      log.warn({ err: failure, ...told }, 'A provider of models failed.');
      // Equal warnings of a second are merged, so this line is the one of the request.
      log.debug({ ...told, code }, 'A call of a provider failed.');
    });
    const list = new ModelList(connection, {
      isCached: () => configs.current.models.base_models_cache,
      onChange: () => this.#collect(),
    });
    return { connection, list };
  }

  /** Calls under way may end. */
  async #retire({ connection, list }: Held): Promise<void> {
    list.close();
    const last = performance.now() + connection.settings.totalMs;
    while (connection.places.taken + connection.places.waiting > 0 && performance.now() < last) {
      await delay(1_000, undefined, { ref: false });
    }
    connection.close();
  }

  /** Joins the lists: a model that several connections offer is one, described by the first. */
  #collect(): void {
    const models = new Map<string, ProviderModel>();
    const holders = new Map<string, Connection[]>();
    for (const { connection, list } of this.#held) {
      for (const listed of list.models) {
        const held = holders.get(listed.id);
        // Some providers list a model twice.
        if (held?.includes(connection)) continue;
        if (held) held.push(connection);
        else holders.set(listed.id, [connection]);
        const names = models.get(listed.id)?.connections ?? [];
        models.set(listed.id, {
          ...listed,
          ...models.get(listed.id),
          connections: [...names, connection.name],
        });
      }
    }
    this.#models = models;
    this.#holders = holders;
    this.#list = [...models.values()];
  }
}
