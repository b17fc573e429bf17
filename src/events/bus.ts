declare module '../core/scope.ts' {
  interface Parts {
    readonly bus: Bus;
  }
}

/**
 * The topics of notices between processes. A noun adds its own by augmenting this interface (`declare module './bus.ts'`), so that the
 * bus knows no noun.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by augmentation
export interface BusTopics {}

export type Topic = keyof BusTopics & string;
export type Handler<T extends Topic> = (message: BusTopics[T]) => void;

/**
 * Carries small notices between the processes of one installation. Delivery is at most once: data that must
 * not be lost stands in the database, and a notice only says where to look.
 */
export interface Bus {
  /** False while notices from other processes may be missed; caches must then ask the database. */
  readonly healthy: boolean;
  /** Whether other processes are on it. */
  readonly shared: boolean;
  /** Hands the message to this process's handlers at once, and to the other processes soon. */
  publish<T extends Topic>(topic: T, message: BusTopics[T]): void;
  /** As `publish`. Resolves when the notice is on its way to the other processes, by one way at least. */
  tell<T extends Topic>(topic: T, message: BusTopics[T]): Promise<void>;
  /** Hands the message to this process's handlers only. */
  announce<T extends Topic>(topic: T, message: BusTopics[T]): void;
  /** Takes a notice of another process, as text, that came another way. @throws Error for malformed text */
  hear(text: string): void;
  /** Returns the function that ends the subscription. */
  subscribe<T extends Topic>(topic: T, handler: Handler<T>): () => void;
  /** Calls back when notices may have been missed, and caches must be read again. */
  onGap(handler: () => void): () => void;
  close(): Promise<void>;
}

/** Delivery within the process, shared by both implementations. A handler that fails does not stop the others. */
export class LocalDelivery {
  readonly #handlers = new Map<string, Set<(message: never) => void>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  subscribe<T extends Topic>(topic: T, handler: Handler<T>): () => void {
    const handlers = this.#handlers.get(topic) ?? new Set();
    this.#handlers.set(topic, handlers);
    handlers.add(handler);
    return () => handlers.delete(handler);
  }

  deliver(topic: string, message: unknown): void {
    for (const handler of this.#handlers.get(topic) ?? []) {
      try {
        handler(message as never);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/** The bus of an installation that is one process. */
export function createLocalBus(onError: (error: unknown) => void): Bus {
  const local = new LocalDelivery(onError);
  return {
    healthy: true,
    shared: false,
    publish: (topic, message) => local.deliver(topic, message),
    tell: async (topic, message) => local.deliver(topic, message),
    announce: (topic, message) => local.deliver(topic, message),
    hear(text) {
      const { topic, message } = JSON.parse(text);
      local.deliver(topic, message);
    },
    subscribe: (topic, handler) => local.subscribe(topic, handler),
    onGap: () => () => {},
    close: async () => {},
  };
}
