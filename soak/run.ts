import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from '../bench/support/child.ts';
import { markEnds, type ReadLog, readLogs } from './collect.ts';
import { type Done, injectAll, missingFaults } from './faults/inject.ts';
import { changeRights, type RightChange } from './faults/rights.ts';
import { FAULTS, type Fault, planFaults } from './faults/schedule.ts';
import type { Journal } from './load/journal.ts';
import { startWorker } from './load/start.ts';
import type { Figures, WorkerOptions, WorkerTask } from './load/worker.ts';
import { type Followed, followMetrics } from './metrics.ts';
import { type Installation, type InstallationOptions, startInstallation } from './setup/installation.ts';
import { type Random, seeded } from './setup/random.ts';
import { makeStage, type Stage } from './setup/stage.ts';

export interface RunOptions {
  seed: number;
  people: number;
  pace: number;
  seconds: number;
  /** With this number, only server processes are killed, so often, and people only write. */
  kills?: number;
  withTools: boolean;
}

/** What a run leaves for the checks. */
export interface Run {
  installation: Installation;
  stage: Stage;
  /** The number of the last event of each channel before the clients came. */
  heads: Record<string, number>;
  logs: ReadLog[];
  journals: Journal[];
  rights: RightChange[];
  faults: Done[];
  missing: Partial<Record<Fault, string>>;
  followed: Followed;
  /** The times of posts and pages in windows of ten seconds. */
  windows: (Figures & { seconds: number })[];
  seconds: number;
}

const WORKERS = 2;
const WINDOW_SECONDS = 10;
/** How long clients may take to get all events at the end. */
const SETTLE_MS = 120_000;

type Say = (line: string) => void;

/** Lets people work while faults happen, then waits until all is quiet. */
export async function runWithFaults(
  options: RunOptions,
  closers: (() => Promise<void>)[],
  say: Say,
): Promise<Run> {
  const { seed, people, withTools, kills } = options;
  const random = seeded(seed);
  const wanted: InstallationOptions = { withFaults: true, withTools };
  const installation = await startInstallation(wanted);
  closers.push(installation.stop);
  const { urls } = installation;
  const missing = missingFaults(installation);
  for (const [fault, reason] of Object.entries(missing)) say(`Left out: ${fault}, because ${reason}.`);
  const stage = await makeStage(installation, { people, random, withTools });
  const heads = await readHeads(stage, urls);
  const workers = await startWorkers(options, stage, urls, heads);
  for (const worker of workers) closers.push(worker.stop);
  const tell = <Answer>(task: WorkerTask) => Promise.all(workers.map((worker) => worker.ask<Answer>(task)));
  await tell({ do: 'enter', people });
  await tell({ do: 'act' });
  say(`${people} people are in. Faults begin.`);

  const over = new AbortController();
  const stopped = new AbortController();
  const following = followMetrics(installation, stopped.signal);
  const changing = changeRights(urls, stage, random, over.signal);
  const began = performance.now();
  const injecting = kills
    ? killMany(installation, kills, random, over.signal, say)
    : injectFaults(installation, options, missing, random, over.signal, say);
  closers.push(async () => {
    over.abort();
    stopped.abort();
    // So that no fault starts a part again after its end.
    await injecting;
  });
  const windows = await watch(tell, began, kills ? injecting : delay(options.seconds * 1000));
  const faults = await injecting;
  over.abort();
  const seconds = (performance.now() - began) / 1000;
  say('Faults have ended. Clients end their work.');
  await tell({ do: 'rest' });
  const rights = await changing;
  stopped.abort();
  const followed = await following;
  const logs = await readLogs(
    stage,
    installation.servers[0]?.url ?? '',
    await markEnds(stage, urls, 'the end'),
  );
  const ends = Object.fromEntries(logs.map(({ channelId, ids }) => [channelId, ids.at(-1) ?? 0]));
  const journals = await tell<Journal>({ do: 'tell', heads: ends, patienceMs: SETTLE_MS });
  return {
    ...{ installation, stage, heads, logs, journals, rights, faults, missing, followed, windows, seconds },
  };
}

/** Before any client has come: the last number of each channel. */
async function readHeads(stage: Stage, urls: string[]): Promise<Record<string, number>> {
  const logs = await readLogs(stage, urls[0] ?? '', await markEnds(stage, urls, 'the beginning'));
  return Object.fromEntries(logs.map(({ channelId, ids }) => [channelId, ids.at(-1) ?? 0]));
}

async function startWorkers(
  { seed, pace, kills, withTools }: RunOptions,
  { people }: Stage,
  urls: string[],
  heads: Record<string, number>,
): Promise<Child<null>[]> {
  const workers: Child<null>[] = [];
  for (let n = 0; n < WORKERS; n += 1) {
    const own: WorkerOptions = {
      ...{ urls, heads, pace, withTools, seed: seed + n + 1, mix: kills ? 'writes' : 'usual' },
      people: people.filter((_, index) => index % WORKERS === n),
    };
    workers.push(await startWorker(own));
  }
  return workers;
}

async function injectFaults(
  installation: Installation,
  { seconds }: RunOptions,
  missing: Run['missing'],
  random: Random,
  signal: AbortSignal,
  say: Say,
): Promise<Done[]> {
  const kinds = FAULTS.filter((fault) => !(fault in missing));
  const planned = planFaults(seconds, random, kinds);
  return injectAll(installation, planned, random, signal, ({ fault, at, lasts }) =>
    say(`${at.toFixed(0)} s: ${fault}, for ${lasts.toFixed(1)} s`),
  );
}

/** The longest pause between two kills, in which people write at both processes. */
const BETWEEN_KILLS_MS = 500;

/** Kills one server process after the other, soon after all serve again. */
async function killMany(
  { servers }: Installation,
  kills: number,
  random: Random,
  signal: AbortSignal,
  say: Say,
): Promise<Done[]> {
  const began = Date.now();
  const done: Done[] = [];
  for (let n = 1; n <= kills && !signal.aborted; n += 1) {
    await Promise.all(servers.map((server) => server.untilReady()));
    await delay(random() * BETWEEN_KILLS_MS);
    const which = n % servers.length;
    const fromMs = Date.now();
    await servers[which]?.kill();
    const fault: Fault = which === 0 ? 'kill server 0' : 'kill server 1';
    done.push({ fault, at: (fromMs - began) / 1000, lasts: 0, fromMs, toMs: Date.now() });
    if (n % 50 === 0) say(`${n} kills in ${((Date.now() - began) / 1000).toFixed(0)} s`);
  }
  await Promise.all(servers.map((server) => server.untilReady()));
  return done;
}

/** Reads the times of the clients in windows until the work ends. */
async function watch(
  tell: <Answer>(task: WorkerTask) => Promise<Answer[]>,
  began: number,
  work: Promise<unknown>,
): Promise<Run['windows']> {
  const windows: Run['windows'] = [];
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const seconds = (performance.now() - began) / 1000;
    const parts = await tell<Figures>({ do: 'measure', seconds: WINDOW_SECONDS });
    for (const part of parts) windows.push({ ...part, seconds });
  }
  await end;
  return windows;
}
