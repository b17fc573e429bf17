import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Bus } from './bus.ts';

declare module './bus.ts' {
  interface BusTopics {
    /** Who is connected to a process: all people, or the people who came and went since its last notice. */
    'presence.told': PresenceTold;
    /** A process that has just started asks the others who is connected to them. An earlier process at its place has ended. */
    'presence.asked': { process: string; place?: string };
  }
}

declare module '../core/scope.ts' {
  interface Parts {
    readonly presence: Presence;
  }
}

const PresenceTold = z.object({
  process: z.string(),
  /** Where it runs, for a worker; the one that replaces it has the same place. */
  place: z.string().optional(),
  came: z.array(z.string()),
  /** Null: `came` holds all people. */
  went: z.array(z.string()).nullable(),
});
type PresenceTold = z.infer<typeof PresenceTold>;

/** How long a person without a connection still counts as connected, as at a reload of a page. */
const LINGER_MS = 5_000;
/** Changes are told together, so that a crowd that comes at once is one change. */
const GATHER_MS = 500;
/** How often a process tells who is connected to it. Changes are told at once; this makes up for lost notices. */
const BEAT_MS = 20_000;
/** When a process that says nothing counts as gone, with all people connected to it. */
const SILENT_MS = 3 * BEAT_MS;

/** For some people, whether each is connected now. */
export type PresenceChanges = ReadonlyMap<string, boolean>;

type Listener = (changes: PresenceChanges) => void;

/** Who is connected to the event doors, of any process of the installation. */
export interface Presence {
  /** Notes one connection of a person. Returns a function that takes it back once. */
  enter(userId: string): () => void;
  /** Those of the given people who have a connection. */
  connectedAmong(userIds: readonly string[]): Set<string>;
  /** Calls back with people whose first connection came, or whose last one went some seconds ago. */
  onChange(listener: Listener): () => void;
  close(): void;
}

interface PresenceOptions {
  /** Where this process runs, for a worker: the process that replaces it there ends its people at once. */
  place?: string | undefined;
  lingerMs?: number;
  gatherMs?: number;
}

/**
 * Each process knows who is connected to it and tells the others over the bus, so that the question needs no round trip, and
 * a process that dies takes its people with it.
 */
export const createPresence = (bus: Bus, options: PresenceOptions = {}): Presence =>
  new SharedPresence(bus, options);

/** Gathers people who may have come or gone, and tells the listeners whose state has changed. */
class Changes {
  readonly #isConnected: (userId: string) => boolean;
  readonly #gatherMs: number;
  readonly #listeners = new Set<Listener>();
  /** The people who are connected, as the listeners were last told. */
  readonly #known = new Set<string>();
  #touched = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(isConnected: (userId: string) => boolean, gatherMs: number) {
    this.#isConnected = isConnected;
    this.#gatherMs = gatherMs;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  touch(userIds: Iterable<string>): void {
    for (const userId of userIds) this.#touched.add(userId);
    this.#timer ??= setTimeout(() => this.#tell(), this.#gatherMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #tell(): void {
    this.#timer = undefined;
    const changes = new Map<string, boolean>();
    for (const userId of this.#touched) {
      const isHere = this.#isConnected(userId);
      if (isHere === this.#known.has(userId)) continue;
      if (isHere) this.#known.add(userId);
      else this.#known.delete(userId);
      changes.set(userId, isHere);
    }
    this.#touched = new Set();
    if (changes.size > 0) for (const listener of this.#listeners) listener(changes);
  }
}

/** Another process. */
interface Other {
  place: string | undefined;
  people: Set<string>;
  heardAt: number;
}

class SharedPresence implements Presence {
  readonly #bus: Bus;
  readonly #lingerMs: number;
  readonly #process = randomUUID();
  readonly #place: string | undefined;
  /** How many connections each person has here; 0 for a person who lingers. */
  readonly #connections = new Map<string, number>();
  /** The timers of people who linger. */
  readonly #leaving = new Map<string, NodeJS.Timeout>();
  /** The people of other processes. */
  readonly #others = new Map<string, Other>();
  readonly #changes: Changes;
  readonly #beating: NodeJS.Timeout;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(bus: Bus, { place, lingerMs = LINGER_MS, gatherMs = GATHER_MS }: PresenceOptions) {
    this.#bus = bus;
    this.#place = place;
    this.#lingerMs = lingerMs;
    this.#changes = new Changes(this.#isConnected, gatherMs);
    this.#unsubscribe = [
      bus.subscribe('presence.told', (told) => this.#hear(PresenceTold.parse(told))),
      bus.subscribe('presence.asked', (asked) => {
        if (asked.process === this.#process) return;
        if (asked.place !== undefined) this.#forget(({ place }) => place === asked.place);
        this.#beat();
      }),
    ];
    this.#beating = setInterval(() => this.#beat(), BEAT_MS).unref();
    if (bus.shared) bus.publish('presence.asked', { process: this.#process, ...this.#where });
  }

  enter(userId: string): () => void {
    const count = this.#connections.get(userId);
    this.#connections.set(userId, (count ?? 0) + 1);
    clearTimeout(this.#leaving.get(userId));
    this.#leaving.delete(userId);
    if (count === undefined) {
      this.#tell([userId], []);
      this.#changes.touch([userId]);
    }
    let hasLeft = false;
    return () => {
      if (!hasLeft) this.#leave(userId);
      hasLeft = true;
    };
  }

  connectedAmong(userIds: readonly string[]): Set<string> {
    return new Set(userIds.filter(this.#isConnected));
  }

  onChange(listener: Listener): () => void {
    return this.#changes.listen(listener);
  }

  close(): void {
    for (const end of this.#unsubscribe) end();
    clearInterval(this.#beating);
    this.#changes.close();
    for (const pending of this.#leaving.values()) clearTimeout(pending);
    this.#tell([], null);
  }

  get #where(): { place?: string } {
    return this.#place === undefined ? {} : { place: this.#place };
  }

  readonly #isConnected = (userId: string): boolean => {
    if (this.#connections.has(userId)) return true;
    for (const { people } of this.#others.values()) if (people.has(userId)) return true;
    return false;
  };

  #leave(userId: string): void {
    const left = (this.#connections.get(userId) ?? 1) - 1;
    this.#connections.set(userId, left);
    if (left > 0) return;
    const timer = setTimeout(() => {
      this.#leaving.delete(userId);
      this.#connections.delete(userId);
      this.#tell([], [userId]);
      this.#changes.touch([userId]);
    }, this.#lingerMs);
    this.#leaving.set(userId, timer.unref());
  }

  #tell(came: string[], went: string[] | null): void {
    if (this.#bus.shared)
      this.#bus.publish('presence.told', { process: this.#process, ...this.#where, came, went });
  }

  #hear({ process, place, came, went }: PresenceTold): void {
    if (process === this.#process) return;
    const people = this.#others.get(process)?.people ?? new Set();
    if (went === null) {
      const all = new Set(came);
      this.#others.set(process, { place, people: all, heardAt: Date.now() });
      this.#changes.touch([...people, ...all]);
      return;
    }
    for (const userId of came) people.add(userId);
    for (const userId of went) people.delete(userId);
    this.#others.set(process, { place, people, heardAt: Date.now() });
    this.#changes.touch([...came, ...went]);
  }

  #beat(): void {
    this.#tell([...this.#connections.keys()], null);
    this.#forget(({ heardAt }) => Date.now() - heardAt >= SILENT_MS);
  }

  /** Forgets processes that have ended, with their people. */
  #forget(isOver: (other: Other) => boolean): void {
    for (const [process, other] of this.#others) {
      if (!isOver(other)) continue;
      this.#others.delete(process);
      this.#changes.touch(other.people);
    }
  }
}
