import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, type TestContext, vi } from 'vitest';
import type { Limits } from '../../src/python/pool.ts';
import type { Answer } from '../support/server.ts';
import { openWorkshop, type Workshop } from '../tools/workshop.ts';

/** A secret that only its own tool may see. */
export const SECRET = 'hunter2-of-the-neighbour';
/** A secret that no tool may see: it is in the environment and in the data folder of the server. */
export const MARK = 'secret-of-the-server';

const NEIGHBOUR = `import os
from pydantic import BaseModel
class Tools:
    class Valves(BaseModel):
        key: str = ""
    def pid(self): return os.getpid()
    def kept(self): return len(self.valves.key)
`;
export const IMPORTS =
  'import asyncio, builtins, concurrent.futures, ctypes, json, multiprocessing, os, pickle, resource, signal, socket, ' +
  'subprocess, sys, threading, time\n' +
  'libc = ctypes.CDLL(None, use_errno=True)\n';

export const IS_ROOT = process.getuid?.() === 0;
export const HAS_FILTER = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
export const FILTER = 'a system call filter for this processor';

/**
 * Within this time other tools are served at least once, whatever a tool does. Loops and sleeps are ended
 * later.
 */
export const TURN_MS = 3_000;
/**
 * Between two rounds of other calls: without it, these calls take the processor that the attack is about. The
 * pauses grow, since a long attack needs no more rounds than a short one.
 */
const ROUND_MS = { first: 25, most: 400 };

export interface Hostile {
  shop: Workshop;
  /** Calls a function of a tool as its reader. */
  use(id: string, name: string, args?: object): Promise<Answer>;
  /** The process id of a tool that works beside the hostile ones. */
  neighbour(): Promise<number>;
  /** Runs an attack while other calls go on, and checks that these do not notice it. */
  beside(hostile: () => Promise<Answer>): Promise<Answer>;
  /** Stores a tool whose function `f` has this body, and calls it beside others. */
  run(body: string, args?: object, parameters?: string): Promise<Answer>;
  /** The result of each expression: its value, or the name of its exception. */
  attempts(expressions: string[], args?: object, parameters?: string): Promise<string[]>;
  /** The protections that this system does not offer. */
  missing(): string;
  close(): Promise<void>;
}

/** Starts a server with an honest tool, and the means to attack it. */
export async function openHostile(limits: Partial<Limits>): Promise<Hostile> {
  vi.stubEnv('PARLEY_TEST_MARK', MARK);
  const shop = await openWorkshop(limits);
  await writeFile(join(shop.server.dataDir, 'secret.key'), MARK, { mode: 0o644 });
  expect(await shop.create('neighbour', NEIGHBOUR)).toMatchObject({ status: 200 });
  await shop.as(shop.author, 'POST', 'neighbour/valves/update', { key: SECRET });
  let number = 0;

  const self: Hostile = {
    shop,
    use: (id, name, args = {}) =>
      shop.as(shop.reader, 'POST', `${id}/call`, { function: name, arguments: args }),
    neighbour: async () => (await self.use('neighbour', 'pid')).body.result,

    async beside(hostile) {
      const before = await self.neighbour();
      let isOver = false;
      let served = 0;
      const over = Promise.withResolvers<void>();
      const others = async () => {
        const answers: Answer[] = [];
        let roundMs = ROUND_MS.first;
        do {
          answers.push(await shop.server.call('GET /auths/', { token: shop.reader.token }));
          answers.push(await self.use('neighbour', 'kept'));
          if (!isOver) served += 1;
          await Promise.race([pause(roundMs), over.promise]);
          roundMs = Math.min(2 * roundMs, ROUND_MS.most);
        } while (!isOver);
        return answers;
      };
      const began = performance.now();
      const watching = others();
      const answer = await hostile().finally(() => {
        isOver = true;
        over.resolve();
      });
      const turns = Math.floor((performance.now() - began) / TURN_MS);
      expect((await watching).filter(({ status }) => status !== 200)).toEqual([]);
      // At any speed of the machine, this finds a server that stood still until the hostile call was ended.
      expect(served).toBeGreaterThanOrEqual(turns);
      // The same process is unharmed and has its settings.
      expect(await self.neighbour()).toBe(before);
      expect((await self.use('neighbour', 'kept')).body.result).toBe(SECRET.length);
      expect(JSON.stringify(answer.body)).not.toMatch(new RegExp(`${SECRET}|${MARK}|Traceback`));
      return answer;
    },

    async run(body, args = {}, parameters = '') {
      number += 1;
      const id = `hostile${number}`;
      const indented = body.replaceAll('\n', '\n        ');
      const content = `${IMPORTS}class Tools:\n    def f(self${parameters}):\n        ${indented}\n`;
      expect((await shop.create(id, content)).status).toBe(200);
      // Gives its place and its user back for the next tools.
      onTestFinished(() => shop.python.evict(id));
      return self.beside(() => self.use(id, 'f', args));
    },

    async attempts(expressions, args = {}, parameters = '') {
      const tries = expressions.map((one) => `lambda: ${one}`).join(', ');
      const answer = await self.run(
        `out = []\nfor attempt in [${tries}]:\n    try: out.append(repr(attempt()))\n` +
          '    except BaseException as e: out.append(type(e).__name__)\nreturn out',
        args,
        parameters,
      );
      expect(answer).toMatchObject({ status: 200 });
      return answer.body.result;
    },

    missing: () => shop.python.state().detail,
    async close() {
      await shop.close();
      vi.unstubAllEnvs();
    },
  };
  return self;
}

/** Skips a test on a system without a feature that it needs; in CI, the test fails instead. */
export function needs({ skip }: TestContext, isThere: boolean, what: string): void {
  if (isThere) return;
  if (process.env.CI) throw new Error(`This system lacks what the test is about: ${what}.`);
  skip(what);
}
