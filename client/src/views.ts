import type { Outputs } from './api.ts';

/** A message, the same at every procedure and in every event. Times are nanoseconds since the epoch. */
export type Message = Outputs['messages']['get'];
/** A channel as its reader sees it. Times are nanoseconds since the epoch. */
export type Channel = Outputs['channels']['get'];
/** A tool as one of its users sees it; `content` only for those who may change it. Times are Unix seconds. */
export type Tool = Outputs['tools']['get'];
/** An account as administrators see it. Times are Unix seconds. */
export type User = Outputs['users']['get'];
/** Who is signed in, with the token that says so. `expires_at` is Unix seconds. */
export type SessionUser = Outputs['auths']['whoAmI'];

type EventsItem = Outputs['channels']['events'];
/** What has a place in a channel's log. */
export type Logged = Extract<EventsItem, { id: string }>['data'];

/** A change in a channel: `data.type` names it, `event_id` numbers the events of a channel without gaps. */
export type ChannelEvent = Extract<Logged, { user: unknown }>;
/** Something that passes and is not kept: who types, who comes and goes, what a model writes at this moment. */
export type ChannelNotice = Extract<EventsItem, { notice: unknown }>['notice'];
