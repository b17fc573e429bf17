import { expect } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import type { Follower } from './follower.ts';
import type { Player } from './stage.ts';
import type { Entry } from './steps.ts';

/** A change of the readers of a channel, as the database recorded it. */
interface Moment {
  channel_id: string;
  event_id: number;
  /** The time when its statement began, and when its transaction was about to commit, in nanoseconds. */
  at: string;
  done_at: string;
  readers: string[];
}

export const readMoments = (database: TestDatabase, channelIds: string[]) =>
  database.query<Moment>(
    `select channel_id, event_id::int, at, done_at, readers from test_readers
      where channel_id = any($1) order by event_id`,
    [channelIds],
  );

/** The clock of a channel may run ahead a little, since each of its events is later than the one before. */
const CLOCK_MS = 5;
/** The maximum time until other transactions see a commit, on a busy machine. */
const COMMIT_MS = 1_000;

const toMs = (nanoseconds: string) => Number(nanoseconds) / 1e6;

/**
 * Checks that a follower receives the events of each channel in order, without a gap after the first, and
 * nothing that its player could not read at some moment between the event and its arrival.
 */
export function requireNothingElse({ player, door, heard }: Follower, moments: Moment[]): void {
  const who = `${player.name} over ${door}`;
  const last = new Map<string, number>();
  for (const { event, atMs } of heard) {
    const { channel_id, event_id } = event;
    const before = last.get(channel_id);
    if (before !== undefined) expect(event_id, `what ${who} hears after ${before}`).toBe(before + 1);
    last.set(channel_id, event_id);
    const ofChannel = moments.filter((moment) => moment.channel_id === channel_id);
    const since = ofChannel.findLastIndex((moment) => moment.event_id <= event_id);
    expect(since, `when ${channel_id} began`).toBeGreaterThanOrEqual(0);
    const couldRead = ofChannel
      .slice(since)
      .some(({ readers, at }) => readers.includes(player.id) && toMs(at) <= atMs + CLOCK_MS);
    expect(couldRead, `${who} may hear ${event.data.type} ${event_id} of ${channel_id}`).toBe(true);
  }
}

/**
 * Checks notices: a follower receives typing only where its player could read at some moment between the
 * typing and the arrival, read marks only of its own player, and removals only as a reader of the channel.
 */
export function requireNoticesOfReaders(follower: Follower, moments: Moment[], journal: Entry[]): void {
  const { player, door, noticed } = follower;
  const typed = new Map(
    journal.filter(({ act }) => act === 'type').map((entry) => [entry.input.message_id, entry]),
  );
  for (const { notice, atMs } of noticed) {
    const { channel_id, message_id, data, user } = notice;
    const what = `${data.type} of ${channel_id} to ${player.name} over ${door}`;
    if (data.type === 'last_read_at') expect(user.id, what).toBe(player.id);
    if (data.type === 'channel:member:remove') expect(data.data.user_ids, what).toContain(player.id);
    if (data.type !== 'typing') continue;
    const entry = typed.get(message_id);
    expect(entry, what).toMatchObject({ channelId: channel_id, by: { id: user.id } });
    const couldRead = couldReadWithin(player, moments, channel_id, entry?.beganMs ?? 0, atMs);
    expect(couldRead, what).toBe(true);
  }
}

function couldReadWithin(
  player: Player,
  moments: Moment[],
  channelId: string,
  fromMs: number,
  untilMs: number,
): boolean {
  const ofChannel = moments.filter(({ channel_id }) => channel_id === channelId);
  return ofChannel.some(({ readers, at }, n) => {
    const end = ofChannel[n + 1]?.done_at;
    const isOver = end !== undefined && toMs(end) + COMMIT_MS < fromMs;
    return readers.includes(player.id) && toMs(at) <= untilMs + CLOCK_MS && !isOver;
  });
}
