import type { RouterOutputs } from './router.ts';

/** A message, the same at every procedure and in every event. Times are nanoseconds since the epoch. */
export type Message = RouterOutputs['messages']['get'];
/** A channel as its reader sees it. Times are nanoseconds since the epoch. */
export type Channel = RouterOutputs['channels']['get'];
/** A tool as one of its users sees it; `content` only for those who may change it. Times are Unix seconds. */
export type Tool = RouterOutputs['tools']['get'];
/** An account as administrators see it. Times are Unix seconds. */
export type User = RouterOutputs['users']['get'];
/** Who is signed in, with the token that says so. `expires_at` is Unix seconds. */
export type SessionUser = RouterOutputs['auths']['whoAmI'];

type Yielded<T> = T extends AsyncIterable<infer Item> ? Item : never;

/** A change in a channel: `data.type` names it, `event_id` numbers the events of a channel without gaps. */
export type ChannelEvent = Yielded<RouterOutputs['channels']['events']>['data'];
