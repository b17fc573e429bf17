import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Board, startBoard } from '../../src/board/board.ts';
import { WEIGHTS } from '../../src/board/weights.ts';
import { modelProcesses, startTestBoard, withoutWeights } from '../support/board.ts';
import { until } from '../support/poll.ts';
import { isAlive } from '../support/process.ts';
import { askBoard, askWhole, clientOf } from './ask.ts';

/** The processor time that the one process of a model has used, in clock ticks. */
async function ticksOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function onlyProcess(): Promise<number> {
  const pids = await modelProcesses();
  expect(pids).toHaveLength(1);
  return pids[0] ?? 0;
}

describe.skipIf(withoutWeights)('the model on board', () => {
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (line: string) => void warnings.push(line) };
  let board: Board;
  // Not beside the tests: that runs although they are skipped.
  beforeAll(async () => {
    board = await startTestBoard({ log });
  });
  afterAll(() => board.close());

  test('is listed once its weights are there, without a process', async () => {
    expect(board.state().state).toBe('ready');
    expect(board.model()).toMatchObject({ id: 'smollm2-135m', name: expect.stringContaining('demo') });
    const { data } = await clientOf(board).models.list();
    expect(data.map(({ id }) => id)).toEqual(['smollm2-135m']);
    expect(await modelProcesses()).toEqual([]);
  });

  test('answers with a text and its usage', async () => {
    const answer = await askWhole(board, 'Say hello.', { max_tokens: 5 });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'smollm2-135m',
      choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'length' }],
      usage: { completion_tokens: 5, total_tokens: (answer.usage?.prompt_tokens ?? 0) + 5 },
    });
    expect(answer.choices[0]?.message.content).toMatch(/\w/);
  });

  test('runs without the variables of the server, and not as root', async () => {
    const pid = await onlyProcess();
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const users = /^Uid:\t(.*)$/m.exec(status)?.[1]?.split('\t').map(Number) ?? [];
    expect(users).toHaveLength(4);
    expect(users).not.toContain(0);
    // Only root may read them of a process that changed its user.
    if (process.getuid?.() !== 0) return;
    const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter(Boolean);
    const names = variables.map((line) => line.split('=', 1)[0]).sort();
    expect(['LANG', 'NODE_COMPILE_CACHE', 'PATH']).toEqual(expect.arrayContaining(names));
  });

  test('streams the same text, with the usage in the last chunk', async () => {
    const whole = await askWhole(board, 'What is 2+2?', { max_tokens: 20, stop: '.' });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await askBoard(board, 'What is 2+2?', { max_tokens: 20, stop: '.' })) {
      chunks.push(chunk);
    }
    const choices = chunks.flatMap((chunk) => chunk.choices);
    expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe(whole.choices[0]?.message.content);
    expect(choices.map((choice) => choice.finish_reason).filter(Boolean)).toEqual(['stop']);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: whole.usage?.completion_tokens },
    });
  });

  test('reads the marks of its format in a message as text', async () => {
    const tokensOf = async (content: string) =>
      (await askWhole(board, content, { max_tokens: 1 })).usage?.prompt_tokens ?? 0;
    // As a mark it would be one token.
    expect((await tokensOf('<|im_end|>')) - (await tokensOf(''))).toBeGreaterThan(4);
  });

  test.each([
    ['a model that it is not', { model: 'gpt-5' }, 404, 'model_not_found'],
    [
      'an input that is too long',
      { messages: [{ role: 'user', content: 'word '.repeat(3000) }] },
      400,
      'context_length_exceeded',
    ],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }] },
      400,
      null,
    ],
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }, 400, null],
  ])('refuses %s in the shape of OpenAI', async (_, params, status, code) => {
    const refused = askWhole(board, 'Hello', params as object);
    await expect(refused).rejects.toBeInstanceOf(OpenAI.APIError);
    await expect(refused).rejects.toMatchObject({ status, code });
  });

  test('ends a generation whose reader leaves, and takes the next call', async () => {
    const pid = await onlyProcess();
    const before = await ticksOf(pid);
    await askWhole(board, 'Count to a thousand.', { max_tokens: 50 });
    const ofFiftyTokens = (await ticksOf(pid)) - before;
    for await (const _ of await askBoard(board, 'Count to a million.', { max_tokens: 1900 })) break;
    await askWhole(board, 'Hello', { max_tokens: 1 });
    expect((await ticksOf(pid)) - before).toBeLessThan(5 * ofFiftyTokens);
    expect(await onlyProcess()).toBe(pid);
  });

  test('tells the calls under way of a crash, and starts again for the next one', async () => {
    const pid = await onlyProcess();
    const waiting = askWhole(board, 'Hello', { max_tokens: 1 });
    const read = async () => {
      for await (const _ of await askBoard(board, 'Count to a million.', { max_tokens: 1900 })) {
        process.kill(pid, 'SIGKILL');
      }
    };
    await waiting;
    await expect(read()).rejects.toThrow(/ended unexpectedly/);
    expect(warnings).toEqual(['The model on board ended: it ended with SIGKILL.']);
    expect((await askWhole(board, 'Hello', { max_tokens: 1 })).usage?.completion_tokens).toBe(1);
    expect(await onlyProcess()).not.toBe(pid);
  });
});

describe.skipIf(withoutWeights)('the process of the model on board', () => {
  test('ends after a time without calls; the next call starts another', async () => {
    const board = await startTestBoard({ idleMs: 1 });
    await askWhole(board, 'Hello', { max_tokens: 1 });
    await until('the process to end', async () => (await modelProcesses()).length === 0);
    await askWhole(board, 'Hello', { max_tokens: 1 });
    await board.close();
    expect(await modelProcesses()).toEqual([]);
  });

  test('ends with a server that is killed, in the middle of an answer', async () => {
    const server = spawn(process.execPath, [join(import.meta.dirname, 'holder.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: server.stdout }), 'line');
    const [pid = 0]: number[] = JSON.parse(String(line));
    expect(isAlive({ pid })).toBe(true);
    server.kill('SIGKILL');
    await until('the process of the model to end', () => !isAlive({ pid }));
  });
});

describe('a model on board that does not start', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (line: string) => void warnings.push(line) };
  const start = (mode: 'auto' | 'off'): Board =>
    startBoard({ dataDir, mode, interpreter: () => Promise.reject(new Error('not asked')), log });
  // Of the right size, but nothing else.
  await mkdir(join(dataDir, 'board'));
  await writeFile(join(dataDir, 'board', WEIGHTS), 'broken');
  await truncate(join(dataDir, 'board', WEIGHTS), 98_362_432);
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  test('answers 503, is not started for each call, and says so', async () => {
    const board = start('auto');
    board.begin();
    for (let n = 0; n < 3; n += 1) {
      await expect(askWhole(board, 'Hello')).rejects.toMatchObject({
        status: 503,
        code: 'model_unavailable',
      });
    }
    expect(warnings).toEqual([expect.stringMatching(/^The model on board did not start: .*GGUF/)]);
    expect(board.state()).toEqual({ state: 'failed', detail: expect.stringContaining('does not start') });
    await board.close();
  });

  test('is not offered when it is switched off', async () => {
    const board = start('off');
    board.begin();
    await board.settled;
    expect(board.state().state).toBe('off');
    expect(board.model()).toBeNull();
    await expect(askWhole(board, 'Hello')).rejects.toMatchObject({ status: 503 });
  });
});
