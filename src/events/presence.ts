import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Bus } from './bus.ts';

declare module './bus.ts' {
  interface BusTopics {
    /** Who is connected to a process: all of them, or those who came and went since it last said. */
    'presence.told': PresenceTold;
    /** A process that has just begun asks the others who is connected to them. */
    'presence.asked': { process: string };
  }
}

declare module '../core/scope.ts' {
  interface Parts {
    readonly presence: Presence;
  }
}

const PresenceTold = z.object({
  process: z.string(),
  came: z.array(z.string()),
  /** Null: `came` are all. */
  went: z.array(z.string()).nullable(),
});
type PresenceTold = z.infer<typeof PresenceTold>;

/** How long somebody may be away, as at a reload of a page, before they count as gone. */
const LINGER_MS = 5_000;
/** Changes are told together, so that a crowd that comes at once is one change. */
const GATHER_MS = 500;
/** How often a process says who is connected to it. Changes are told at once; this makes lost ones good. */
const BEAT_MS = 20_000;
/** When a process that says nothing counts as gone, and everybody at it. */
const SILENT_MS = 3 * BEAT_MS;

/** Whether each of some people is connected now. */
export type PresenceChanges = ReadonlyMap<string, boolean>;

/** Who is connected to the event doors, of any process of the installation. */
export interface Presence {
  /** Notes one connection of a person. Returns how to take it back; more than once does nothing. */
  enter(userId: string): () => void;
  /** Those of the given people who have a connection. */
  connectedAmong(userIds: readonly string[]): Set<string>;
  /** Calls back with those whose first connection came, or whose last one went some seconds ago. */
  onChange(listener: (changes: PresenceChanges) => void): () => void;
  close(): void;
}

/**
 * Each process knows who is connected to it and tells the others over the bus, so that the question costs nobody a round trip, and
 * a process that dies takes its people with it.
 */
export function createPresence(bus: Bus, { lingerMs = LINGER_MS, gatherMs = GATHER_MS } = {}): Presence {
  const process = randomUUID();
  const connections = new Map<string, number>();
  const leaving = new Map<string, NodeJS.Timeout>();
  const others = new Map<string, { people: Set<string>; heardAt: number }>();
  const listeners = new Set<(changes: PresenceChanges) => void>();
  /** What everybody was last told. */
  const known = new Set<string>();
  let touched = new Set<string>();
  let gathering: NodeJS.Timeout | undefined;

  const isConnected = (userId: string) => {
    if (connections.has(userId)) return true;
    for (const { people } of others.values()) if (people.has(userId)) return true;
    return false;
  };

  function touch(userIds: Iterable<string>): void {
    for (const userId of userIds) touched.add(userId);
    gathering ??= setTimeout(tellChanges, gatherMs).unref();
  }

  function tellChanges(): void {
    gathering = undefined;
    const changes = new Map<string, boolean>();
    for (const userId of touched) {
      const isHere = isConnected(userId);
      if (isHere === known.has(userId)) continue;
      if (isHere) known.add(userId);
      else known.delete(userId);
      changes.set(userId, isHere);
    }
    touched = new Set();
    if (changes.size > 0) for (const listener of listeners) listener(changes);
  }

  function tell(came: string[], went: string[] | null): void {
    if (bus.shared) bus.publish('presence.told', { process, came, went });
  }

  function hear(told: PresenceTold): void {
    if (told.process === process) return;
    const people = others.get(told.process)?.people ?? new Set();
    if (told.went === null) {
      const all = new Set(told.came);
      others.set(told.process, { people: all, heardAt: Date.now() });
      touch([...people, ...all]);
      return;
    }
    for (const userId of told.came) people.add(userId);
    for (const userId of told.went) people.delete(userId);
    others.set(told.process, { people, heardAt: Date.now() });
    touch([...told.came, ...told.went]);
  }

  function beat(): void {
    tell([...connections.keys()], null);
    for (const [other, { people, heardAt }] of others) {
      if (Date.now() - heardAt < SILENT_MS) continue;
      others.delete(other);
      touch(people);
    }
  }

  function leave(userId: string): void {
    const left = (connections.get(userId) ?? 1) - 1;
    if (left > 0) {
      connections.set(userId, left);
      return;
    }
    // They still count while they may be on their way back.
    connections.set(userId, 0);
    const timer = setTimeout(() => {
      leaving.delete(userId);
      connections.delete(userId);
      tell([], [userId]);
      touch([userId]);
    }, lingerMs);
    leaving.set(userId, timer.unref());
  }

  const unsubscribe = [
    bus.subscribe('presence.told', (told) => hear(PresenceTold.parse(told))),
    bus.subscribe('presence.asked', (asked) => {
      if (asked.process !== process) beat();
    }),
  ];
  const timer = setInterval(beat, BEAT_MS).unref();
  if (bus.shared) bus.publish('presence.asked', { process });

  return {
    enter(userId) {
      const count = connections.get(userId);
      connections.set(userId, (count ?? 0) + 1);
      clearTimeout(leaving.get(userId));
      leaving.delete(userId);
      if (count === undefined) {
        tell([userId], []);
        touch([userId]);
      }
      let hasLeft = false;
      return () => {
        if (!hasLeft) leave(userId);
        hasLeft = true;
      };
    },
    connectedAmong: (userIds) => new Set(userIds.filter(isConnected)),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      for (const end of unsubscribe) end();
      clearInterval(timer);
      clearTimeout(gathering);
      for (const pending of leaving.values()) clearTimeout(pending);
      tell([], null);
    },
  };
}
