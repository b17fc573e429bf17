import { expect } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { call } from '../support/server.ts';
import { applyEvent, type Follower, loadChannel, type State } from './follower.ts';
import type { Player } from './stage.ts';
import type { Entry } from './steps.ts';

interface Logged {
  id: number;
  type: string;
  message_id: string | null;
  data: Record<string, unknown>;
}

const readLog = (database: TestDatabase, channelId: string) =>
  database.query<Logged>(
    'select id::int, type, message_id, data from channel_event where channel_id = $1 order by id',
    [channelId],
  );

const comparable = (state: State) => Object.fromEntries([...state].sort(([a], [b]) => a.localeCompare(b)));

const NIL = '00000000-0000-0000-0000-000000000000';

/** The channels of these that still exist. */
export async function listLeft(database: TestDatabase, channelIds: string[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>('select id from channel where id = any($1)', [
    channelIds,
  ]);
  return rows.map(({ id }) => id);
}

/** Checks a channel in the database by itself. @returns the log of the channel */
export async function requireWhole(database: TestDatabase, channelId: string): Promise<Logged[]> {
  const log = await readLog(database, channelId);
  const [channel] = await database.query<{ type: string; last_event: number }>(
    'select type, last_event::int from channel where id = $1',
    [channelId],
  );
  expect(log.map(({ id }) => id)).toEqual(Array.from({ length: channel?.last_event ?? 0 }, (_, n) => n + 1));

  const messages = await database.query<{
    id: string;
    reply_count: number;
    latest_reply_at: string | null;
    replies: number;
    latest: string | null;
    is_deleted: boolean;
    hanging: number;
  }>(
    `select m.id, m.reply_count, m.latest_reply_at, m.deleted_at is not null as is_deleted,
            (select count(*)::int from message r where r.channel_id = m.channel_id and r.parent_id = m.id) as replies,
            (select max(r.created_at) from message r where r.channel_id = m.channel_id and r.parent_id = m.id) as latest,
            ((select count(*) from message_reaction x where x.message_id = m.id)
             + (select count(*) from message_mention x where x.message_id = m.id) + m.is_pinned::int)::int as hanging
       from message m where m.channel_id = $1`,
    [channelId],
  );
  for (const message of messages) {
    expect(message.reply_count).toBe(message.replies);
    expect(message.latest_reply_at).toBe(message.latest);
    if (message.is_deleted)
      expect(message).toMatchObject({ hanging: 0, replies: expect.toSatisfy((n) => n > 0) });
  }
  const forgotten = await database.query(
    `select m.id from message m join channel_event e on e.channel_id = m.channel_id and e.message_id = m.id
      where m.channel_id = $1 and e.type = 'message' and e.data ->> 'temp_id' is not null
        and not exists (select from message_temp_id t where t.message_id = m.id)`,
    [channelId],
  );
  expect(forgotten).toEqual([]);
  // Each message has one event, and each message with an event exists or has an event of its deletion.
  const told = log.filter(({ type }) => type === 'message').map(({ message_id }) => message_id);
  expect(new Set(told).size).toBe(told.length);
  const gone = log.filter(({ type }) => type === 'message:delete').map(({ message_id }) => message_id);
  const alive = messages.filter(({ is_deleted }) => !is_deleted).map(({ id }) => id);
  expect(alive.toSorted()).toEqual(told.filter((id) => !gone.includes(id)).toSorted());
  return log;
}

/** Checks that a group channel had a manager at each change of its members and roles. */
export async function requireManagers(database: TestDatabase, channelIds: string[]): Promise<void> {
  const moments = await database.query<{ managers: number }>(
    `select managers from test_readers where channel_id = any($1) and type = 'group'`,
    [channelIds],
  );
  expect(moments.length).toBeGreaterThan(0);
  for (const { managers } of moments) expect(managers).toBeGreaterThan(0);
}

/** Checks that the log, the answers of the server and the states of all followers are equal. */
export async function requireSameState(
  url: string,
  database: TestDatabase,
  channelId: string,
  followers: Follower[],
): Promise<void> {
  const byLog: State = new Map();
  for (const event of await requireWhole(database, channelId)) applyEvent(byLog, event);
  const expected = comparable(byLog);
  for (const follower of followers) {
    const { player, door } = follower;
    const answered = await loadChannel(url, player.token, channelId);
    expect(answered && comparable(answered), `what ${player.name} is answered`).toEqual(expected);
    const heard = comparable(follower.stateOf(channelId));
    expect(heard, `what ${player.name} has heard over ${door}`).toEqual(expected);
  }
  const [reader] = followers;
  if (!reader) return;
  const pinned = [...byLog.values()].filter(({ is_pinned }) => is_pinned);
  const listed: { id: string }[] = [];
  for (let page = 1; listed.length === (page - 1) * 20; page += 1) {
    const { token } = reader.player;
    listed.push(
      ...(await call(url, `GET /channels/${channelId}/messages/pinned?page=${page}`, { token })).body,
    );
  }
  const newestFirst = pinned.sort((a, b) => (b.pinned_at ?? 0) - (a.pinned_at ?? 0));
  expect(listed.map(({ id }) => id)).toEqual(newestFirst.map(({ id }) => id));
}

/** Counts the unread messages of a player by looking at every message, and compares this with the server. */
export async function requireCounts(
  url: string,
  database: TestDatabase,
  player: Player,
  channelIds: string[],
): Promise<void> {
  const { body } = await call(url, 'GET /channels', { token: player.token });
  const channels = (body as { id: string; unread_count: number; mention_count: number }[]).filter(({ id }) =>
    channelIds.includes(id),
  );
  for (const { id, unread_count, mention_count } of channels) {
    const [seen] = await database.query<{ at: string }>(
      `select coalesce((select last_read_at from channel_reader where channel_id = $1 and user_id = $2),
                       (select joined_at from channel_member where channel_id = $1 and user_id = $2),
                       (select created_at::bigint * 1000000000 from users where id = $2)) as at`,
      [id, player.id],
    );
    const messages = await database.query<{ content: string; created_at: string; mentioned: string[] }>(
      `select content, created_at, array(select user_id from message_mention where message_id = m.id) as mentioned
         from message m where channel_id = $1 and user_id <> $2 and deleted_at is null`,
      [id, player.id],
    );
    const fresh = messages.filter(({ created_at }) => BigInt(created_at) > BigInt(seen?.at ?? 0));
    const mentions = fresh.filter(
      ({ mentioned }) => mentioned.includes(player.id) || mentioned.includes(NIL),
    );
    const counts = { unread_count: fresh.length, mention_count: mentions.length };
    expect({ unread_count, mention_count }, `what is new for ${player.name}`).toEqual(counts);
    // A mentioned player is named in the current text.
    for (const { content } of mentions) expect(content).toContain(player.id);
  }
}

/**
 * Checks that answered calls have been done, unanswered calls have been done once at most, and the log has
 * nothing else.
 */
export function requireJournal(journal: Entry[], logs: Map<string, Logged[]>): void {
  for (const [channelId, log] of logs) {
    const entries = journal.filter((entry) => entry.channelId === channelId);
    const done = entries.filter(({ outcome }) => outcome.status === 200);
    const count = (type: string, messageId?: string) =>
      log.filter((event) => event.type === type && event.message_id === messageId).length;
    const tried = (input: string, messageId: string, among = entries) =>
      among.filter((entry) => entry.messageId === messageId && input in entry.input).length;

    const posts = entries.filter(({ input }) => 'temp_id' in input);
    for (const { input, messageId, outcome } of posts) {
      if (outcome.status === 200) expect(count('message', messageId), `events of ${input.content}`).toBe(1);
    }
    // When a message was deleted in between, sending it again posts a new one.
    const alive = log.filter(
      ({ type, message_id, data }) =>
        type === 'message' && data.temp_id && count('message:delete', message_id ?? '') === 0,
    );
    expect(new Set(alive.map(({ data }) => data.temp_id)).size).toBe(alive.length);
    const unanswered = new Set(
      posts.filter(({ outcome }) => outcome.status === 0).map(({ input }) => input.temp_id as string),
    );
    for (const { type, message_id, data } of log) {
      if (type !== 'message') continue;
      const isAnswered = posts.some(({ messageId }) => messageId === message_id);
      if (!isAnswered) expect(unanswered).toContain(data.temp_id);
    }

    for (const { messageId } of done) {
      if (messageId === undefined) continue;
      const edits = tried('content', messageId) - tried('temp_id', messageId);
      const editsDone = tried('content', messageId, done) - tried('temp_id', messageId, done);
      const updates = count('message:update', messageId);
      expect(updates).toBeGreaterThanOrEqual(editsDone);
      expect(updates).toBeLessThanOrEqual(edits + tried('is_pinned', messageId));
    }
    for (const { act, input, messageId } of done) {
      if (act === 'delete' && !('temp_id' in input)) {
        expect(count('message:delete', messageId)).toBeGreaterThan(0);
      }
    }
    requireReactions(entries, log);
  }
}

/** Checks that the last reaction call of each player decides each reaction, unless the message is deleted. */
function requireReactions(entries: Entry[], log: Logged[]): void {
  const state: State = new Map();
  for (const event of log) applyEvent(state, event);
  const last = new Map<string, Entry>();
  for (const entry of entries) {
    const { input, by, messageId, outcome } = entry;
    if (!('name' in input) || !messageId || (outcome.status !== 200 && outcome.status !== 0)) continue;
    last.set(`${messageId} ${input.name} ${by.id}`, entry);
  }
  for (const { act, by, input, messageId = '', outcome } of last.values()) {
    const message = state.get(messageId);
    if (outcome.status === 0 || !message || message.meta.deleted) continue;
    const users = message.reactions.find(({ name }) => name === input.name)?.users ?? [];
    expect(users.some(({ id }) => id === by.id)).toBe(act === 'react');
  }
}
