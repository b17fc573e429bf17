import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { linkWeights, withoutWeights } from '../support/board.ts';
import { installed, readFences, runFences } from '../support/fences.ts';
import { until } from '../support/poll.ts';
import { startTestPython } from '../support/python.ts';
import { startServer } from '../support/server.ts';

const PAGE = new URL('../../README.md', import.meta.url);

const python = await startTestPython();
const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
await linkWeights(dataDir);
const server = await startServer({ python, dataDir, env: { EMBEDDED_MODEL: 'auto' } });
const folder = await mkdtemp(join(tmpdir(), 'parley-page-'));
afterAll(async () => {
  await server.close();
  await python.close();
  await rm(folder, { recursive: true });
  await rm(dataDir, { recursive: true });
});

/** All members of a JSON value, at all levels. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
};

function run(program: string, token: string) {
  const child = spawn(process.execPath, [program], {
    env: { TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = { child, text: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.text += text;
  });
  return output;
}

test.skipIf(withoutWeights)('the first session of the README works as written, in its order', async () => {
  const here = (text: string) => text.replaceAll(/(http:\/\/)?(127\.0\.0\.1|localhost):8080/g, server.url);
  const all = (await readFences(PAGE)).map((fence) => ({ ...fence, text: here(fence.text) }));
  // Other tests cover the commands of a checkout.
  const fences = all.filter(({ language, text }) => language !== 'sh' || !text.includes('npm '));
  const tokenFile = join(folder, 'token');
  const keepToken = { language: 'sh', file: '', text: `printf %s "$TOKEN" > ${tokenFile}\n` };

  const outputs = await runFences([...fences, keepToken], { folder, env: {} });
  const promised = outputs.filter(({ next }) => next?.language === 'json');
  expect(promised).toHaveLength(4);
  for (const { printed, next } of promised)
    expect(shapeOf(JSON.parse(printed))).toEqual(shapeOf(JSON.parse(next?.text ?? '')));
  const { body: grace } = await server.call('POST /auths/signin', {
    body: { email: 'grace@example.com', password: 'another pass phrase' },
  });
  expect(grace.role).toBe('user');

  const [typed = '', socketio = ''] = fences
    .filter(({ language }) => language === 'js')
    .map(({ text }) => text);
  const token = await readFile(tokenFile, 'utf8');
  await writeFile(join(folder, 'socketio.js'), installed(socketio));
  await writeFile(join(folder, 'typed.js'), installed(typed));
  const program = run(join(folder, 'typed.js'), token);
  // The program ends by itself.
  await once(program.child, 'close');
  expect(program.text).toBe('7 Hello again\n');

  const listener = run(join(folder, 'socketio.js'), token);
  const [{ id }] = (await server.call('GET /channels/', { token })).body;
  await until('an event at the Socket.IO program', async () => {
    await server.call(`POST /channels/${id}/messages/post`, { token, body: { content: 'Hello there' } });
    return listener.text.endsWith('Hello there\n');
  });
  listener.child.kill();
  await once(listener.child, 'close');
});
