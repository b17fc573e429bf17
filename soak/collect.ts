import { createHash } from 'node:crypto';
import { io } from 'socket.io-client';
import { until } from '../test/support/poll.ts';
import type { Finding } from './checks/events.ts';
import type { StoredMessage } from './checks/writes.ts';
import { markOf, type UploadEntry } from './load/journal.ts';
import { callUntilFinal, inParallel, insist } from './setup/calls.ts';
import type { Stage } from './setup/stage.ts';

/** The log of a channel, read through the API. */
export interface ReadLog {
  channelId: string;
  ids: number[];
  marks: number[];
  /** The numbers of `message` events, by the id of the message. */
  messages: Map<string, number>;
}

const WIDTH = 8;
const PAGE = 200;

/**
 * Posts a message to each channel, so that the end of each log is known.
 *
 * @returns the ids of the messages, by channel
 */
export async function markEnds(
  { administrator, channels }: Stage,
  urls: readonly string[],
  content: string,
): Promise<Map<string, string>> {
  const { token } = administrator;
  const ends = await inParallel(channels, WIDTH, async ({ id }): Promise<[string, string]> => {
    const body = { content, temp_id: content };
    const posted = await insist(urls, `POST /channels/${id}/messages/post`, { token, body });
    return [id, posted.id];
  });
  return new Map(ends);
}

/** Reads the logs of all channels from their first event, as a client that was away from the beginning. */
export async function readLogs(
  { administrator, channels }: Stage,
  url: string,
  ends: ReadonlyMap<string, string>,
): Promise<ReadLog[]> {
  const logs = new Map(
    channels.map(({ id }): [string, ReadLog] => [
      id,
      { channelId: id, ids: [], marks: [], messages: new Map() },
    ]),
  );
  const last_event_ids = Object.fromEntries(channels.map(({ id }) => [id, 0]));
  const socket = io(url, {
    path: '/ws/socket.io',
    transports: ['websocket'],
    auth: { token: administrator.token, events: 'envelope', last_event_ids },
  });
  const open = new Set(ends.keys());
  socket.on('events:channel', ({ event_id, channel_id, message_id, data }) => {
    const log = logs.get(channel_id);
    if (event_id === undefined || !log) return;
    log.ids.push(event_id);
    log.marks.push(markOf(data.type, message_id));
    if (data.type === 'message') log.messages.set(message_id, event_id);
    if (message_id === ends.get(channel_id)) open.delete(channel_id);
  });
  try {
    await until('the logs of all channels', () => open.size === 0, 300_000);
  } finally {
    socket.disconnect();
  }
  return [...logs.values()];
}

/** All messages of a channel with those of its threads. */
export async function readMessages(
  urls: readonly string[],
  token: string,
  channelId: string,
): Promise<StoredMessage[]> {
  const all: (StoredMessage & { reply_count: number })[] = [];
  const at = `/channels/${channelId}/messages`;
  for (let before = ''; ; ) {
    const page = await insist(urls, `GET ${at}?limit=${PAGE}${before}`, { token });
    all.push(...page);
    if (page.length < PAGE) break;
    before = `&before=${page.at(-1).id}`;
  }
  const roots = all.filter(({ reply_count }) => reply_count > 0);
  const threads = await inParallel(roots, WIDTH, async ({ id }) => {
    const replies: StoredMessage[] = [];
    for (let before = ''; ; ) {
      const page = await insist(urls, `GET ${at}/${id}/thread?limit=${PAGE}${before}`, { token });
      // The last page of a thread ends with its root.
      replies.push(...page.filter((message: StoredMessage) => message.id !== id));
      if (page.length < PAGE) return replies;
      before = `&before=${page.at(-1).id}`;
    }
  });
  return [...all, ...threads.flat()];
}

/** Reads each acknowledged upload back. */
export async function checkUploads(
  urls: readonly string[],
  uploads: readonly UploadEntry[],
  tokens: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  const found = await inParallel(uploads, WIDTH, async ({ id, personId, sha256 }): Promise<Finding[]> => {
    const token = tokens[personId] ?? '';
    const { status, body } = await callUntilFinal(urls, `GET /files/${id}/content`, { token });
    if (status !== 200) return [{ kind: 'lost write', detail: `the file ${id} was answered ${status}` }];
    const isSame = createHash('sha256').update(String(body)).digest('hex') === sha256;
    return isSame ? [] : [{ kind: 'changed write', detail: `the file ${id} has other bytes` }];
  });
  return found.flat();
}
