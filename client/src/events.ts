import type { ParleyError } from './errors.ts';
import type { ChannelEvent, ChannelNotice } from './views.ts';

/** `connecting`: not connected yet, or not at this moment. `ended`: for good. */
export type EventsState = 'connecting' | 'live' | 'ended';

export interface EventsOptions {
  /** Only these channels; by default all that the caller may read, later ones included. */
  channelIds?: readonly string[];
  /**
   * The position to continue from: the `id` of an event, or `lastEventId` of another subscription. The
   * default is now.
   */
  lastEventId?: string;
  /** Called once for each event, in the order of each channel. `id` is the position after this event. */
  onEvent(event: ChannelEvent, id: string): void;
  /**
   * Called for transient notices, such as typing and presence. Some may be lost, and none is repeated.
   */
  onNotice?(notice: ChannelNotice): void;
  /**
   * Called when the server no longer has the missed events, or restored a backup: read the channel again. Its
   * events continue after this moment.
   */
  onReload?(channelId: string): void;
  /**
   * Called at most once: the service refused, and the subscription has ended. Lost connections are not
   * errors.
   */
  onError?(error: ParleyError): void;
  /** Called at each change; `error` has the reason why it is not `live`, if known. */
  onState?(state: EventsState, error: ParleyError | null): void;
}

export interface EventSubscription {
  /**
   * Resolves when the starting position is fixed: every event of a later change is delivered, whatever
   * happens to the connection. Rejects with the `ParleyError` when that never happens.
   */
  readonly ready: Promise<void>;
  readonly state: EventsState;
  /**
   * The position after the last delivered event, to continue later or in another program; null until `ready`.
   */
  readonly lastEventId: string | null;
  /** Ends the subscription; no callback is called after that. */
  unsubscribe(): void;
}
