import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '../../load/post.ts';
import { startChild } from '../../support/child.ts';
import type { Parley } from '../../support/parley.ts';
import { descendants, privateMemory } from '../../support/processes.ts';
import type { Result, Target } from '../../support/report.ts';
import { median, quantile } from '../../support/rounds.ts';
import type { Workspace } from '../../support/workspace.ts';
import { published } from './published.ts';

const TYPICAL = `"""
title: Weather
version: 1.0.0
"""
from typing import Literal
import requests
from pydantic import BaseModel, Field

class Tools:
    class Valves(BaseModel):
        api_key: str = Field("", description="Of the weather service")

    def __init__(self):
        self.valves = self.Valves()

    def temperature(self, city: str, unit: Literal["celsius", "fahrenheit"] = "celsius", __user__: dict = {}) -> str:
        """
        The temperature of a city.
        :param city: its name
        :param unit: of the answer
        """
        return f"{city}: 20 {unit}"

    async def warnings(self, city: str, days: int = 3, __event_emitter__=None) -> list[str]:
        """
        What the weather service warns of.
        :param city: its name
        :param days: how many days ahead
        """
        return []
`;

const SPIN = 'class Tools:\n    def spin(self):\n        while True: pass\n';
const SPINNERS = 8;
/** The maximum number of tool processes at a time. */
const PLACES = 64;

/**
 * Measures the creation of tools, the memory of idle ones, many in turn, and what busy ones cost other users.
 */
export async function tools(workspace: Workspace): Promise<Result[]> {
  return [
    ...(await createAndKeep(workspace)),
    ...(await createPublished(workspace)),
    ...(await callInTurn(workspace)),
    await spinBesideOthers(workspace),
  ];
}

const create = ({ asAdministrator }: Parley, id: string, content: string) =>
  asAdministrator('POST /tools/create', { id, name: id, content, meta: {} });

/** How long so many creations take, without the first ones, which also warm up the server; in milliseconds. */
async function timeCreations(parley: Parley, id: string, content: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let made = 0; made < count; made += 1) {
    const began = performance.now();
    await create(parley, `${id}_${made}`, content);
    times.push(performance.now() - began);
  }
  return times.slice(5);
}

/** Ends the processes of tools that `timeCreations` made, so that places are free. */
async function remove({ asAdministrator }: Parley, id: string, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await asAdministrator(`DELETE /tools/id/${id}_${made}/delete`);
}

/**
 * The live processes of tools: the descendants of the fork server, which is the only child of the first
 * Python process.
 */
function toolProcesses({ pid }: Parley): number[] {
  const [, forkServer] = descendants(pid).filter(({ name }) => name.startsWith('python'));
  return forkServer ? descendants(forkServer.pid).map((one) => one.pid) : [];
}

async function createAndKeep({ parley, quick }: Workspace): Promise<Result[]> {
  const count = quick ? 10 : 50;
  const times = await timeCreations(parley, 'typical', TYPICAL, count);
  const memory = median(toolProcesses(parley).map(privateMemory));
  await remove(parley, 'typical', count);
  return [
    result('create a typical tool, p50', 'ms', quantile(times, 0.5), { atMost: 20 }),
    result('create a typical tool, p99', 'ms', quantile(times, 0.99), null),
    ...(memory ? [result('private memory of an idle loaded tool', 'MB', memory, { atMost: 8 })] : []),
  ];
}

/**
 * One tool whose requirements the environment meets, and one whose packages were installed for another tool; the latter also while all
 * places are taken, so that each creation ends another process.
 */
async function createPublished({ parley, quick }: Workspace): Promise<Result[]> {
  const config = await parley.asAdministrator<object>('GET /configs/export?secrets=true');
  await parley.asAdministrator('POST /configs/import', { ...config, tools: { install_requirements: true } });
  const count = quick ? 10 : 50;
  const packaged = published('requests, markdown', 'import markdown');
  const contents = {
    'create a published tool, requirements met': published('requests, aiohttp, pydantic>=2'),
    'create a published tool, packages there': packaged,
  };
  const results: Result[] = [];
  let isReady = false;
  for (const [number, [what, content]] of Object.entries(contents).entries()) {
    const id = `published${number}`;
    await create(parley, id, content);
    isReady = await installed(parley, id);
    // Without the package index there is no figure.
    if (!isReady) continue;
    const times = await timeCreations(parley, id, content, count);
    await remove(parley, id, count);
    results.push(result(`${what}, p50`, 'ms', quantile(times, 0.5), { atMost: 40 }));
  }
  if (!isReady) return results;
  for (let made = 0; made < PLACES; made += 1) await create(parley, `place${made}`, 'class Tools: pass\n');
  const times = await timeCreations(parley, 'beyond', packaged, count);
  return [...results, result('the same while all places are taken, p50', 'ms', quantile(times, 0.5), null)];
}

async function installed({ asAdministrator }: Parley, id: string): Promise<boolean> {
  for (;;) {
    const { state } = await asAdministrator<{ state: string }>(`GET /tools/id/${id}/install`);
    if (state === 'ready' || state === 'none') return true;
    if (state === 'failed') return false;
    await delay(200);
  }
}

/** More tools than places: each call makes another process end. */
async function callInTurn({ parley, quick }: Workspace): Promise<Result[]> {
  const [stored, called] = quick ? [100, 80] : [500, 200];
  for (let made = 0; made < stored; made += 1) {
    await create(parley, `turn${made}`, `class Tools:\n    def f(self): return ${made}\n`);
  }
  const times: number[] = [];
  let live = 0;
  let failures = 0;
  for (let at = 0; at < called; at += 1) {
    const began = performance.now();
    const answer = await parley
      .asAdministrator<{ result: number }>(`POST /tools/id/turn${at}/call`, { function: 'f' })
      .catch(() => undefined);
    times.push(performance.now() - began);
    if (answer?.result !== at) failures += 1;
    if (at % 10 === 0) live = Math.max(live, toolProcesses(parley).length);
  }
  return [
    result(`${called} of ${stored} tools in turn: failures`, 'calls', failures, { atMost: 0 }),
    result(`${called} of ${stored} tools in turn: live processes`, 'processes', live, { atMost: PLACES }),
    result(`${called} of ${stored} tools in turn: call, p50`, 'ms', quantile(times, 0.5), null),
  ];
}

/** On the core of the server, where tools cost it the most. */
async function spinBesideOthers({ parley, authorization, quick }: Workspace): Promise<Result> {
  const ask: Call = { url: `${parley.url}/api/v1/auths/`, headers: authorization };
  const client = await startChild('load/latency.ts', 'load', ask);
  const calls = quick ? 500 : 3_000;
  try {
    await client.ask({ calls });
    const alone = await client.ask<number[]>({ calls });
    const spinning: Promise<unknown>[] = [];
    for (let number = 0; number < SPINNERS; number += 1) {
      await create(parley, `spin${number}`, SPIN);
      const spin = parley.asAdministrator(`POST /tools/id/spin${number}/call`, { function: 'spin' });
      spinning.push(spin.catch(() => {}));
    }
    await delay(500);
    const beside = await client.ask<number[]>({ calls });
    await Promise.all(spinning);
    const [ours, figure] = [quantile(beside, 0.99), quantile(alone, 0.99)];
    return {
      what: `\`GET /auths/\` beside ${SPINNERS} tools that spin, p99`,
      unit: 'ms',
      ours,
      baseline: { what: 'beside none', figure },
      ratio: ours / figure,
      target: { atMost: figure * 1.5 },
    };
  } finally {
    await client.stop();
  }
}

const result = (what: string, unit: string, ours: number, target: Target | null): Result => ({
  what,
  unit,
  ours,
  baseline: null,
  ratio: null,
  target,
});
