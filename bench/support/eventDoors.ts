import pg from 'pg';
import { readEvents } from '../../src/channels/events/events.repository.ts';
import type { SocketLoad } from '../load/sockets.ts';
import { startChild } from './child.ts';
import { sqlOn } from './database.ts';
import type { Parley } from './parley.ts';

export type Kind = 'ws' | 'socketio';

/** One account may have a hundred connections. */
const SOCKETS_OF_ONE = 100;

/** The protocol of a client: the frames that it sends, and the frames that it recognises. */
type Protocol = Pick<SocketLoad, 'people' | 'readyAt' | 'eventAt'>;
/** A load without the number of its sockets. */
export type Door = Omit<SocketLoad, 'sockets'>;

/**
 * The protocol with a bare Socket.IO server, and with our door for a client that listens only to
 * `events:channel`.
 */
const socketIo = (tokens: (string | null)[]): Protocol => ({
  people: tokens.map((token) => ({
    headers: {},
    hello: [`40${JSON.stringify(token === null ? {} : { token, events: 'envelope' })}`],
    replies: {
      // Engine.IO's ping and pong; when the join is acknowledged, the socket is in its rooms.
      2: '3',
      ...(token !== null && { 40: `420["user-join",${JSON.stringify({ auth: { token } })}]` }),
    },
  })),
  readyAt: tokens[0] === null ? '40' : '430',
  eventAt: '42["events:channel"',
});

/** The doors of a bare server (`baselines/broadcast.ts`). */
const BARE_DOORS: Record<Kind, Protocol & { path: string }> = {
  socketio: { ...socketIo([null]), path: '/socket.io/?EIO=4&transport=websocket' },
  ws: { path: '/', people: [{ headers: {}, hello: [], replies: {} }], readyAt: null, eventAt: '{' },
};

/** The door of a bare server at this port; its trigger sends the event to every socket. */
export function bareDoor(kind: Kind, port: number, event: unknown): Door {
  const { path, ...protocol } = BARE_DOORS[kind];
  const host = `127.0.0.1:${port}`;
  return {
    ...protocol,
    url: `ws://${host}${path}`,
    trigger: { url: `http://${host}`, headers: {}, body: JSON.stringify(event) },
  };
}

/** Our event doors, for sockets of new members who may read a channel from now on. */
export async function openDoors(
  parley: Parley,
  channelId: string,
  sockets: number,
): Promise<Record<Kind, Door>> {
  const tokens = await admitReaders(parley, channelId, Math.ceil(sockets / SOCKETS_OF_ONE));
  const url = parley.url.replace('http', 'ws');
  const subscribe = { path: 'channels.events', input: { channel_ids: [channelId] } };
  return {
    socketio: { ...socketIo(tokens), url: `${url}/ws/socket.io/?EIO=4&transport=websocket` },
    ws: {
      url: `${url}/trpc`,
      people: tokens.map((token) => ({
        headers: { authorization: `Bearer ${token}` },
        hello: [JSON.stringify({ id: 1, method: 'subscription', params: subscribe })],
        replies: { PING: 'PONG' },
      })),
      readyAt: '{"id":1,"result":{"type":"started"',
      eventAt: '{"id":1,"result":{"type":"data"',
    },
  };
}

/** Opens this number of sockets at a door, from another process. */
export const openSockets = (door: Door, sockets: number) =>
  startChild('load/sockets.ts', 'load', { ...door, sockets });

/** Tokens of new members, who may read the channel from now on. */
async function admitReaders(parley: Parley, channelId: string, count: number): Promise<string[]> {
  const readers = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const account = {
        name: `reader ${n}`,
        email: `reader${n}.${channelId}@example.com`,
        password: 'correct horse battery',
      };
      const { id } = await parley.call<{ id: string }>('POST /auths/signup', account);
      await parley.asAdministrator(`POST /users/${id}/update`, { role: 'user' });
      const { token } = await parley.call<{ token: string }>('POST /auths/signin', account);
      return { id, token };
    }),
  );
  const grants = readers.map(({ id }) => ({ principal_type: 'user', principal_id: id, permission: 'read' }));
  const member = { principal_type: 'user', principal_id: parley.userId, permission: 'write' };
  await parley.asAdministrator(`POST /channels/${channelId}/update`, { access_grants: [member, ...grants] });
  return readers.map(({ token }) => token);
}

/** Posts a message, and returns the event that subscribers get. */
export async function makeEvent(
  parley: Parley,
  databaseUrl: string,
  channelId: string,
  content: string,
): Promise<unknown> {
  await parley.call(`POST /channels/${channelId}/messages/post`, { content });
  const pool = new pg.Pool({ connectionString: databaseUrl });
  try {
    const events = await readEvents(sqlOn(pool), channelId, 0, 10);
    return events.find(({ data }) => data.type === 'message');
  } finally {
    await pool.end();
  }
}

/** The call of the member that makes one event. */
export const postInto = ({ url, token }: Parley, channelId: string, content: string) => ({
  url: `${url}/api/v1/channels/${channelId}/messages/post`,
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ content }),
});
