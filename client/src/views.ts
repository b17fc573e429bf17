import type { Outputs } from './api.ts';

/** A message, the same in every procedure and event. Times are nanoseconds since the epoch. */
export type Message = Outputs['messages']['get'];
/** A channel as its reader sees it. Times are nanoseconds since the epoch. */
export type Channel = Outputs['channels']['get'];
/** A tool as one of its users sees it; `content` only for users who may change it. Times are Unix seconds. */
export type Tool = Outputs['tools']['get'];
/** An account as administrators see it. Times are Unix seconds. */
export type User = Outputs['users']['get'];
/** The signed-in user with the token. `expires_at` is Unix seconds. */
export type SessionUser = Outputs['auths']['whoAmI'];

type EventsItem = Outputs['channels']['events'];
/** An event with a position in the log of a channel. */
export type Logged = Extract<EventsItem, { id: string }>['data'];

/**
 * A change in a channel: `data.type` names it, and `event_id` numbers the events of a channel without gaps.
 */
export type ChannelEvent = Extract<Logged, { user: unknown }>;
/**
 * A transient notice: typing, presence, the text that a model is writing, a question of a tool, changed rights. `channel_id` is null where it
 * concerns the person in all channels.
 */
export type ChannelNotice = Extract<EventsItem, { notice: unknown }>['notice'];
