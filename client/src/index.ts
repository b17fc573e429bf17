export type { Api, Inputs, Outputs } from './api.ts';
export { type ClientOptions, createClient, type ParleyClient } from './client.ts';
export type {
  ConnectionListener,
  ConnectionState,
  TokenSource,
  WebSocketConstructor,
} from './connection.ts';
export { type ErrorCode, type Issue, isParleyError, type ParleyError } from './errors.ts';
export type { EventSubscription, EventsOptions, EventsState } from './events.ts';
export type { CallOptions, Mutation, Query, Subscription, SubscriptionObserver } from './procedures.ts';
export type { Channel, ChannelEvent, ChannelNotice, Message, SessionUser, Tool, User } from './views.ts';
