export { type ClientOptions, createClient, type ParleyClient, type TokenSource } from './client.ts';
export { type ErrorCode, type Issue, isParleyError, ParleyError } from './errors.ts';
export type { EventSubscription, EventsOptions, EventsState } from './events.ts';
export type { AppRouter, RouterInputs, RouterOutputs } from './router.ts';
export type { ConnectionListener, ConnectionState, WebSocketConstructor } from './socket.ts';
export type { Channel, ChannelEvent, Message, SessionUser, Tool, User } from './views.ts';
