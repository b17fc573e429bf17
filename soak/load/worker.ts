import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { childOptions, ready } from '../../bench/support/childSide.ts';
import { until } from '../../test/support/poll.ts';
import { inParallel } from '../setup/calls.ts';
import { seeded } from '../setup/random.ts';
import type { PersonSetup } from '../setup/stage.ts';
import { drawActions, idleMs } from './actions.ts';
import type { Journal } from './journal.ts';
import { Latencies, type Spread } from './latencies.ts';
import { type Crowd, Person } from './person.ts';

export interface WorkerOptions {
  urls: string[];
  people: PersonSetup[];
  heads: Record<string, number>;
  seed: number;
  /** A factor of the pauses between actions. */
  pace: number;
  mix: 'usual' | 'writes';
  withTools: boolean;
}

export type WorkerTask =
  /** Lets so many of its people in. */
  | { do: 'enter'; people: number }
  /** All people who are in act from now on. */
  | { do: 'act' }
  /** Forgets the figures so far, and answers those of the next seconds. */
  | { do: 'measure'; seconds: number }
  /** Ends all actions, and waits for their answers. */
  | { do: 'rest' }
  /** Waits until each listener has heard the channels of its person to these numbers; answers the journal. */
  | { do: 'tell'; heads: Record<string, number>; patienceMs: number };

export interface Figures {
  post: Spread;
  page: Spread;
  failed: Record<number, number>;
  /** How late the event loop of the clients was, in milliseconds: the clients' own part of the times. */
  loopP99: number;
}

const options = JSON.parse(readFileSync(childOptions<string>(), 'utf8')) as WorkerOptions;
setPriority(10);
/** Enters so many at a time. */
const WIDTH = 16;

const random = seeded(options.seed);
const latencies = new Latencies();
const journal: Journal = {
  ...{ posts: [], edits: [], reactions: [], uploads: [], tokens: {}, heard: [] },
  ...{ answers: {}, oddities: [] },
};
const { urls, heads, withTools } = options;
const crowd: Crowd = { urls, journal, latencies, patienceMs: 120_000, withTools, heads };
const people = options.people.map(
  (setup, index) => new Person(setup, crowd, seeded(random() * 2 ** 32), index),
);
const over = new AbortController();
const lives: Promise<void>[] = [];
let entered = 0;
const act = drawActions(options.mix, withTools);
const loop = monitorEventLoopDelay({ resolution: 10 });
loop.enable();

async function enter(count: number): Promise<void> {
  const fresh = people.slice(entered, count);
  await inParallel(fresh, WIDTH, (person) => person.enter());
  entered += fresh.length;
}

function actAll(): void {
  for (const person of people.slice(lives.length, entered))
    lives.push(person.live(act, () => idleMs(person.random, options.pace), over.signal));
}

async function measure(seconds: number): Promise<Figures> {
  latencies.take();
  loop.reset();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return { ...latencies.take(), loopP99: loop.percentile(99) / 1e6 };
}

async function tell(ends: Record<string, number>, patienceMs: number): Promise<Journal> {
  const isWhole = ({ setup, listener }: Person) =>
    [...setup.channels, ...setup.guestOf].every((id) => (listener?.position(id) ?? 0) >= (ends[id] ?? 0));
  // What is missing then, the checks name.
  await until('all events', () => people.slice(0, entered).every(isWhole), patienceMs).catch(() => {});
  for (const { setup, listener, token } of people) {
    listener?.close();
    journal.tokens[setup.id] = token;
  }
  return journal;
}

ready(null, async (task: WorkerTask) => {
  if (task.do === 'enter') await enter(task.people);
  if (task.do === 'act') actAll();
  if (task.do === 'measure') return measure(task.seconds);
  if (task.do === 'rest') {
    over.abort();
    await Promise.all(lives);
  }
  if (task.do === 'tell') return tell(task.heads, task.patienceMs);
  return {};
});
