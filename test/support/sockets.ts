import {
  createTRPCClient,
  createTRPCUntypedClient,
  createWSClient,
  type TRPCClientError,
  wsLink,
} from '@trpc/client';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import type { ProcedureType } from '../../src/doors/http/procedures.ts';
import type { AppRouter } from '../../src/router.ts';
import { until } from './poll.ts';

/** Everything that a client of an event door has received so far. */
export interface Listener {
  events: Received[];
  /** The types of the received notices. */
  notices: string[];
  /** The reason of the end, once the connection has ended. */
  ended: string | undefined;
  close(): void;
}

interface Received {
  type: string;
  content: string | undefined;
}

interface Event {
  /** Notices have none. */
  event_id?: number;
  data: { type: string; data?: unknown };
}

const received = ({ data }: Event): Received => ({
  type: data.type,
  content: (data.data as { content?: string } | undefined)?.content,
});

function hear({ events, notices }: Listener, told: Event): void {
  if (told.event_id === undefined) notices.push(told.data.type);
  else events.push(received(told));
}

/** A connected Socket.IO client; it does not reconnect by itself. */
export async function listenBySocketIo(url: string, token?: string): Promise<Listener> {
  const socket: Socket = io(url, {
    path: '/ws/socket.io',
    transports: ['websocket'],
    reconnection: false,
    auth: { events: 'envelope', ...(token && { token }) },
  });
  const listener: Listener = {
    events: [],
    notices: [],
    ended: undefined,
    close: () => void socket.disconnect(),
  };
  socket.on('events:channel', (event: Event) => hear(listener, event));
  socket.on('disconnect', (reason) => {
    listener.ended = reason;
  });
  socket.on('connect_error', (error) => {
    listener.ended = (error as Error & { data?: { code?: string } }).data?.code ?? error.message;
    socket.disconnect();
  });
  await until('a Socket.IO answer', () => socket.connected || listener.ended);
  return listener;
}

/** A subscription to `channels.events` over tRPC's WebSocket; a lost socket ends it. */
export async function listenByTrpc(url: string, token?: string): Promise<Listener> {
  const sockets = createWSClient({
    url: `${url.replace('http', 'ws')}/trpc`,
    // The WebSocket types of Node and of the platform differ only in members that no client uses.
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    connectionParams: token ? { token } : null,
  });
  const client = createTRPCClient<AppRouter>({ links: [wsLink({ client: sockets })] });
  const listener: Listener = { events: [], notices: [], ended: undefined, close: () => void sockets.close() };
  let started = false;
  client.channels.events.subscribe(
    {},
    {
      onStarted: () => {
        started = true;
      },
      onData: (item) => hear(listener, ('notice' in item ? item.notice : item.data) as Event),
      onError: (error) => {
        const { data, message } = error as TRPCClientError<AppRouter>;
        listener.ended = (data as { error_code?: string } | null)?.error_code ?? message;
      },
      onComplete: () => {
        listener.ended ??= 'complete';
      },
    },
  );
  await until('a tRPC answer', () => started || listener.ended);
  return listener;
}

export interface Outcome {
  status: number;
  /** Set when the answer is an error. */
  code: string | undefined;
}

/** Calls any procedure over one tRPC socket, for tests that are generated from the router. */
export function openCalls(url: string, token?: string) {
  const sockets = createWSClient({
    url: `${url.replace('http', 'ws')}/trpc`,
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    connectionParams: token ? { token } : null,
  });
  const client = createTRPCUntypedClient({ links: [wsLink({ client: sockets })] });
  /** Resolves when the subscription has begun. */
  const subscribe = async (path: string, input: unknown): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const subscription = client.subscription(path, input, { onStarted: () => resolve(), onError: reject });
    await promise.finally(() => subscription.unsubscribe());
  };
  const begin = {
    query: client.query.bind(client),
    mutation: client.mutation.bind(client),
    subscription: subscribe,
  };
  async function attempt(type: ProcedureType, path: string, input: unknown): Promise<Outcome> {
    try {
      await begin[type](path, input);
      return { status: 200, code: undefined };
    } catch (error) {
      const { data } = error as { data?: { httpStatus?: number; error_code?: string } };
      if (data?.httpStatus === undefined) throw error;
      return { status: data.httpStatus, code: data.error_code };
    }
  }
  return {
    attempt,
    /** Resolves with the status only. */
    call: async (...args: Parameters<typeof attempt>): Promise<number> => (await attempt(...args)).status,
    close: () => void sockets.close(),
  };
}
