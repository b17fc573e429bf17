import fc from 'fast-check';
import { expect } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { call } from '../support/server.ts';
import { Follower, type Place } from './follower.ts';
import {
  listLeft,
  requireCounts,
  requireJournal,
  requireManagers,
  requireSameState,
  requireWhole,
} from './invariants.ts';
import { readMoments, requireNothingElse, requireNoticesOfReaders } from './privacy.ts';
import type { Player } from './stage.ts';
import type { Entry } from './steps.ts';

const DOORS = ['trpc', 'envelope', 'trpc', 'named', 'trpc', 'envelope'] as const;

/** For each follower: after how many events it loses its connection, again and again. */
export const LOSSES = fc.array(fc.array(fc.nat(15), { minLength: 1, maxLength: 5 }), {
  minLength: DOORS.length,
  maxLength: DOORS.length,
});

export interface Readers {
  followers: Follower[];
  /** Resolves when all followers have stopped. */
  running: Promise<unknown>;
}

/** Every player listens, one of them with two clients. */
export async function follow(options: {
  url: string;
  database: TestDatabase;
  players: Player[];
  channelIds: string[];
  losses: number[][];
  where: (n: number) => Promise<Place>;
  isPlace: (place: Place) => boolean;
}): Promise<Readers> {
  const { url, database, players, channelIds, losses, where, isPlace } = options;
  const moments = await readMoments(database, channelIds);
  const followers = await Promise.all(
    DOORS.map(async (door, n) => {
      const player = players[n % players.length] as Player;
      const known = moments
        .filter(({ readers }) => readers.includes(player.id))
        .map(({ channel_id }) => channel_id);
      const { cursor } = (await call(url, 'GET /channels/events/cursor', { token: player.token })).body;
      const behaviour = { losses: losses[n] ?? [], where: () => where(n), isPlace };
      return new Follower({ player, door, cursor, known, ...behaviour });
    }),
  );
  return { followers, running: Promise.all(followers.map((follower) => follower.run())) };
}

const LAST_WORD = 'the end';

interface Ending {
  url: string;
  database: TestDatabase;
  players: Player[];
  channelIds: string[];
  journal: Entry[];
  readers: Readers;
}

/**
 * Waits until every follower has received the last event that it may read, and then checks all properties.
 */
export async function requireEverything(ending: Ending): Promise<void> {
  const { url, database, players, channelIds, journal, readers } = ending;
  const { followers, running } = readers;
  const left = await listLeft(database, channelIds);
  let readable: Map<string, Follower[]>;
  try {
    readable = await hearLastWords(ending, left);
  } finally {
    for (const follower of followers) follower.finish();
    await running;
  }
  const moments = await readMoments(database, channelIds);
  const logs: Parameters<typeof requireJournal>[1] = new Map();
  for (const [channelId, those] of readable) {
    const log = await requireWhole(database, channelId);
    // The last words are in no journal.
    logs.set(
      channelId,
      log.filter(({ data }) => data.content !== LAST_WORD),
    );
    await requireSameState(url, database, channelId, those);
  }
  requireJournal(journal, logs);
  for (const follower of followers) {
    expect(follower.reloads).toBe(0);
    requireNothingElse(follower, moments);
    requireNoticesOfReaders(follower, moments, journal);
  }
  for (const player of players) await requireCounts(url, database, player, left);
  await requireManagers(database, channelIds);
}

/**
 * Each writer posts a last word in each channel, and all readers must receive it. @returns the last words by
 * channel
 */
async function hearLastWords(
  { url, database, players, readers: { followers } }: Ending,
  channelIds: string[],
): Promise<Map<string, Follower[]>> {
  await Promise.all(followers.map((follower) => follower.settle()));
  const readable = new Map<string, Follower[]>();
  for (const channelId of channelIds) {
    const request = `POST /channels/${channelId}/messages/post`;
    const body = { content: LAST_WORD };
    const answers = await Promise.all(players.map(({ token }) => call(url, request, { token, body })));
    expect(answers.map(({ status }) => status)).toContain(200);
    const now = (await readMoments(database, [channelId])).at(-1)?.readers ?? [];
    const those = followers.filter(({ player }) => now.includes(player.id));
    readable.set(channelId, those);
    const { length } = await requireWhole(database, channelId);
    for (const follower of those) {
      const { player, door } = follower;
      const what = `${player.name} to hear over ${door} event ${length} of ${channelId}`;
      await until(what, () => follower.position(channelId) === length);
    }
  }
  return readable;
}
