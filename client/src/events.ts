import type { ParleyError } from './errors.ts';
import type { ChannelEvent, ChannelNotice } from './views.ts';

/** `connecting`: not yet, or not at this moment, in touch with the service. `ended`: for good. */
export type EventsState = 'connecting' | 'live' | 'ended';

export interface EventsOptions {
  /** Only these channels; all that the caller may read unless told, those of later included. */
  channelIds?: readonly string[];
  /** Where to go on: the `id` that came with an event, or another subscription's `lastEventId`. From now on unless told. */
  lastEventId?: string;
  /** Called once for each event, in the order of each channel. `id` stands for the place behind this event. */
  onEvent(event: ChannelEvent, id: string): void;
  /** Called for what passes and is not kept: who types, who comes and goes. Some may be lost, and none comes twice. */
  onNotice?(notice: ChannelNotice): void;
  /**
   * Called when the service has forgotten what was missed, or went back to a backup: read the channel anew. Its events go on
   * behind this moment.
   */
  onReload?(channelId: string): void;
  /** Called at most once: the service refused, and the subscription has ended. Lost connections are no errors. */
  onError?(error: ParleyError): void;
  /** Called at each change; `error` says why it is not `live`, where that is known. */
  onState?(state: EventsState, error: ParleyError | null): void;
}

export interface EventSubscription {
  /**
   * Resolves once the starting point is fixed: every event of a change that begins after that is delivered, whatever
   * happens to the connection. Rejects with the `ParleyError` when it never comes to that.
   */
  readonly ready: Promise<void>;
  readonly state: EventsState;
  /** The place behind the last delivered event, for going on in another program or later; null until `ready`. */
  readonly lastEventId: string | null;
  /** Ends it; no callback is called any more. */
  unsubscribe(): void;
}
