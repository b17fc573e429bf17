import type { ParleyError } from './errors.ts';

export interface CallOptions {
  /** Ends the call. Calls of one moment share a request, which is aborted when all of them have ended. */
  signal?: AbortSignal;
}

/** A procedure that changes nothing. */
export interface Query<Input, Output> {
  /** @throws ParleyError */
  query(input: Input, options?: CallOptions): Promise<Output>;
}

/** A procedure that changes something. It is never repeated automatically. */
export interface Mutation<Input, Output> {
  /** @throws ParleyError */
  mutate(input: Input, options?: CallOptions): Promise<Output>;
}

export interface SubscriptionObserver<Item> extends CallOptions {
  /** The server has accepted it; called again after each lost connection. */
  onStarted?(): void;
  onData(item: Item): void;
  /** The server refused or failed; the subscription has ended. */
  onError?(error: ParleyError): void;
  /** The subscription has ended without an error. */
  onComplete?(): void;
  /** `pending` means an open connection. `error` has the reason why the last one was lost. */
  onConnectionStateChange?(change: { state: 'idle' | 'connecting' | 'pending'; error: Error | null }): void;
}

/** A subscription. A lost connection is restored, and continues after the last item with an `id`. */
export interface Subscription<Input, Item> {
  /** @throws Error where no `WebSocket` class exists */
  subscribe(input: Input, observer: SubscriptionObserver<Item>): { unsubscribe(): void };
}

/** The input of each procedure below. */
export type InputsOf<Entry> = Entry extends
  | Query<infer Input, infer _Output>
  | Mutation<infer Input, infer _Output>
  | Subscription<infer Input, infer _Output>
  ? Input
  : { [Name in keyof Entry]: InputsOf<Entry[Name]> };

/** The output of each procedure below; for subscriptions, one item. */
export type OutputsOf<Entry> = Entry extends
  | Query<infer _Input, infer Output>
  | Mutation<infer _Input, infer Output>
  | Subscription<infer _Input, infer Output>
  ? Output
  : { [Name in keyof Entry]: OutputsOf<Entry[Name]> };
