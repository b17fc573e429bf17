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

/** A change in a channel: `data.type` names it, `event_id` numbers the events of a channel without gaps. */
export type ChannelEvent = Outputs['channels']['events']['data'];
