import { createTRPCClient, createWSClient, type TRPCClientError, wsLink } from '@trpc/client';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import {
  CHANNEL_EVENTS,
  type ChannelNoticeView,
  NOTICE_TYPES,
} from '../../src/channelbase/channels.notices.schema.ts';
import type { ChannelEventView, ChannelReloadView } from '../../src/channels/events/events.schema.ts';
import { MESSAGE_EVENTS } from '../../src/messages/messages.schema.ts';
import type { AppRouter } from '../../src/router.ts';
import { until } from '../support/poll.ts';

export type Event = ChannelEventView;
/** The message of a message event. @throws Error for any other event */
export function messageOf({ data }: Event) {
  if (!('content' in data.data)) throw new Error(`${data.type} carries no message`);
  return data.data;
}

/** The contents of the messages, in the order of their events; events of channels have none. */
export const contentsOfEvents = (events: Event[]): string[] =>
  events.flatMap(({ data }) => ('content' in data.data ? [data.data.content] : []));

export const ENVELOPE = 'events:channel';

/** A Socket.IO client with everything that it received. */
export interface SocketListener {
  socket: Socket;
  /** Events received as `events:channel`. */
  enveloped: Event[];
  /** Notices: received as `events:channel`, without a number. */
  notices: ChannelNoticeView[];
  namedNotices: { name: string; notice: ChannelNoticeView }[];
  reloads: Omit<ChannelReloadView, 'data'>[];
  /** Events received under their own name, with that name. */
  named: { name: string; event: Event }[];
  /** The body of a refusal. */
  refusal: { detail: string; code: string } | undefined;
  /** The reason of the disconnection. */
  ended: string | undefined;
  close(): void;
}

export interface SocketOptions {
  transport?: 'websocket' | 'polling';
  auth?: Record<string, unknown>;
  /** Reconnects by itself when true; false by default. */
  reconnection?: boolean;
}

/** Opens a plain Socket.IO client. Resolves when it is admitted or refused. */
export async function listenBySocket(
  url: string,
  token: string | undefined,
  { transport = 'websocket', auth = {}, reconnection = false }: SocketOptions = {},
): Promise<SocketListener> {
  const socket = io(url, {
    path: '/ws/socket.io',
    transports: [transport],
    upgrade: false,
    reconnection,
    forceNew: true,
    auth: { ...(token && { token }), ...auth },
  });
  const listener: SocketListener = {
    socket,
    enveloped: [],
    notices: [],
    namedNotices: [],
    reloads: [],
    named: [],
    refusal: undefined,
    ended: undefined,
    close: () => void socket.disconnect(),
  };
  socket.on(ENVELOPE, (told: Event | ChannelReloadView | ChannelNoticeView) => {
    if (!('event_id' in told)) listener.notices.push(told);
    else if ('user' in told) listener.enveloped.push(told);
    else listener.reloads.push(told);
  });
  for (const name of [...MESSAGE_EVENTS, ...CHANNEL_EVENTS, ...NOTICE_TYPES])
    socket.on(name, (told: Event | ChannelNoticeView) => {
      if ('event_id' in told) listener.named.push({ name, event: told });
      else listener.namedNotices.push({ name, notice: told });
    });
  socket.on('connect_error', (error) => {
    listener.refusal = (error as Error & { data?: SocketListener['refusal'] }).data;
    listener.ended ??= error.message;
  });
  socket.on('disconnect', (reason) => {
    listener.ended ??= reason;
  });
  await until('a Socket.IO answer', () => socket.connected || listener.ended);
  return listener;
}

/** A subscription to `channels.events` with everything that it received. */
export interface Subscription {
  items: { id: string; event: Event }[];
  notices: ChannelNoticeView[];
  reloads: Omit<ChannelReloadView, 'data'>[];
  /** The `error_code` of the failure that ended it. */
  failure: string | undefined;
  /** The number of starts: one, and another after each lost socket. */
  starts: number;
  /** Breaks the socket like a lost network; the client reconnects by itself. */
  tear(): void;
  close(): void;
}

export interface SubscribeOptions {
  channel_ids?: string[];
  lastEventId?: string;
}

/**
 * Subscribes over tRPC's WebSocket. Resolves when it has started or failed.
 *
 * @param isGone true when waiting for the server is of no use any more
 */
export async function subscribe(
  url: string,
  token: string | undefined,
  options: SubscribeOptions = {},
  isGone = () => false,
): Promise<Subscription> {
  const sockets: WebSocket[] = [];
  class KnownSocket extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      sockets.push(this);
    }
  }
  const wsClient = createWSClient({
    url: `${url.replace('http', 'ws')}/trpc`,
    // The WebSocket types of Node and of the platform differ only in members that no client uses.
    WebSocket: KnownSocket as unknown as typeof globalThis.WebSocket,
    connectionParams: token ? { token } : null,
    // Retries soon, but not in a tight loop: the server may have to start first.
    retryDelayMs: () => 10,
  });
  const client = createTRPCClient<AppRouter>({ links: [wsLink({ client: wsClient })] });
  const subscription: Subscription = {
    items: [],
    notices: [],
    reloads: [],
    failure: undefined,
    starts: 0,
    tear: () => sockets.at(-1)?.terminate(),
    close: () => {
      handle.unsubscribe();
      void wsClient.close();
    },
  };
  const handle = client.channels.events.subscribe(options, {
    onStarted: () => {
      subscription.starts += 1;
    },
    onData: (item) => {
      if ('notice' in item) subscription.notices.push(item.notice as ChannelNoticeView);
      else if ('user' in item.data) subscription.items.push({ id: item.id, event: item.data as Event });
      else subscription.reloads.push(item.data);
    },
    onError: (error) => {
      const { data, message } = error as TRPCClientError<AppRouter>;
      subscription.failure = (data as { error_code?: string } | null)?.error_code ?? message;
    },
  });
  await until('a tRPC answer', () => subscription.starts > 0 || subscription.failure || isGone());
  return subscription;
}
