import fc from 'fast-check';
import { expect } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { call } from '../support/server.ts';
import { Follower, type Place } from './follower.ts';
import {
  listLeft,
  readMoments,
  requireCounts,
  requireJournal,
  requireManagers,
  requireNothingElse,
  requireSameState,
  requireWhole,
} from './invariants.ts';
import type { Player } from './stage.ts';
import type { Entry } from './steps.ts';

const DOORS = ['trpc', 'socket.io', 'trpc', 'socket.io', 'trpc', 'socket.io'] as const;

/** How each follower behaves: after how many events it loses its connection, again and again. */
export const LOSSES = fc.array(fc.array(fc.nat(15), { minLength: 1, maxLength: 5 }), {
  minLength: DOORS.length,
  maxLength: DOORS.length,
});

export interface Readers {
  followers: Follower[];
  /** Resolves when all have stopped. */
  running: Promise<unknown>;
}

/** Everybody listens, one of them with two clients. */
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

/** Waits until everybody has heard the last of what they may read, and asks for all that must hold then. */
export async function requireEverything(options: {
  url: string;
  database: TestDatabase;
  players: Player[];
  channelIds: string[];
  journal: Entry[];
  readers: Readers;
}): Promise<void> {
  const { url, database, players, channelIds, journal, readers } = options;
  const { followers, running } = readers;
  const left = await listLeft(database, channelIds);
  const ended = Promise.race([running, Promise.all(followers.map((follower) => follower.settle()))]);
  await ended;
  // A last word in each channel, which all who may read it must hear.
  for (const channelId of left) {
    const last = await Promise.all(
      players.map(async ({ token }) => {
        const body = { content: 'the end' };
        return (await call(url, `POST /channels/${channelId}/messages/post`, { token, body })).status;
      }),
    );
    expect(last).toContain(200);
  }
  const readable = new Map<string, Follower[]>();
  for (const channelId of left) {
    const moments = await readMoments(database, [channelId]);
    const now = moments.at(-1)?.readers ?? [];
    readable.set(
      channelId,
      followers.filter(({ player }) => now.includes(player.id)),
    );
    const log = await requireWhole(database, channelId);
    for (const follower of readable.get(channelId) ?? []) {
      const { player, door } = follower;
      await until(`${player.name} to hear over ${door} event ${log.length} of ${channelId}`, () => {
        return follower.position(channelId) === log.length;
      });
    }
  }
  for (const follower of followers) follower.finish();
  await running;

  const moments = await readMoments(database, channelIds);
  const logs = new Map<string, Awaited<ReturnType<typeof requireWhole>>>();
  for (const [channelId, those] of readable) {
    logs.set(channelId, await requireWhole(database, channelId));
    await requireSameState(url, database, channelId, those);
  }
  for (const follower of followers) {
    expect(follower.reloads).toBe(0);
    requireNothingElse(follower, moments);
  }
  for (const player of players) await requireCounts(url, database, player, left);
  await requireManagers(database, channelIds);
  // The last words are in no journal.
  for (const [channelId, log] of logs) {
    logs.set(
      channelId,
      log.filter(({ data }) => data.content !== 'the end'),
    );
  }
  requireJournal(journal, logs);
}
