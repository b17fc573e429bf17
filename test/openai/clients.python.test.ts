import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { connectProvider, startProvider } from '../support/provider.ts';
import { toolOf } from '../support/python.ts';
import { openWorkshop } from '../tools/workshop.ts';
import { makeKey } from './wire.ts';

/** The official Python clients of OpenAI and Anthropic, and LangChain, unchanged. */

const FOLDER = join(import.meta.dirname, 'python');
const REQUIREMENTS = join(FOLDER, 'requirements.txt');
const HASH = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
/** One environment for all runs on this machine, since making it takes a while. */
const ENVIRONMENT = join(tmpdir(), `parley-test-clients-${HASH}`);
const run = promisify(execFile);

/** Null when it exists; otherwise the reason why it could not be made. */
async function prepare(): Promise<string | null> {
  if (existsSync(ENVIRONMENT)) return null;
  const mine = `${ENVIRONMENT}.${process.pid}`;
  try {
    await run('python3', ['-m', 'venv', mine]);
    await run(join(mine, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS]);
    // Another run may have made it first.
    await rename(mine, ENVIRONMENT).catch(() => rm(mine, { recursive: true, force: true }));
    return null;
  } catch (error) {
    await rm(mine, { recursive: true, force: true });
    return String(error);
  }
}

const missing = await prepare();
// In CI the test fails instead of being skipped.
if (missing && process.env.CI === 'true') throw new Error(`The clients could not be installed: ${missing}`);

const provider = await startProvider('small');
const { server, admin, create, configure, close } = await openWorkshop();
afterAll(async () => {
  await close();
  await provider.close();
});

it('work with the server as with their own services', { timeout: 120_000 }, async ({ skip }) => {
  if (missing) skip(`the clients could not be installed: ${missing}`);
  await configure(({ auth }) => {
    auth.enable_api_keys = true;
  });
  await connectProvider(server, admin, provider, { name: 'scripted' });
  await create('dice', toolOf('def roll(self) -> str:\n    return "4"'));
  provider.script((request, wire) => {
    const { tools = [], messages } = request.body;
    const [name] = tools.map((tool: { function: { name: string } }) => tool.function.name);
    const { role, content } = messages.at(-1);
    if (role === 'tool') wire.say(`You rolled ${content}.`);
    else if (name === 'look') wire.call({ name, arguments: { at: 1 } });
    else if (name) wire.call({ name, arguments: {} });
    else wire.say('Hello there.');
  });
  const key = await makeKey(server, admin);
  const python = join(ENVIRONMENT, 'bin/python');
  const { stdout } = await run(python, [join(FOLDER, 'clients.py'), server.url, key]);
  expect(JSON.parse(stdout)).toEqual({
    'openai whole': ['Hello there.', 15],
    'openai stream': ['Hello there.', 15],
    'openai tools of the server': ['assistant', 'You rolled 4.'],
    'openai tools': ['tool_calls', '{"at":1}'],
    'openai models': ['small', 'small'],
    'openai embeddings': [4, 1, 0],
    'openai error': ['model_not_found', 'model'],
    'openai credentials': 'unauthenticated',
    'anthropic whole': ['Hello there.', 5],
    'anthropic stream': ['You rolled 4.', 'end_turn', 20],
    'anthropic tools': ['tool_use', { at: 1 }],
    'anthropic tokens': 6,
    'anthropic models': ['small'],
    'anthropic error': 'not_found_error',
    'langchain whole': ['Hello there.', 15],
    'langchain stream': ['Hello there.', 15],
    'langchain tools': { at: 1 },
    'langchain embeddings': [4, 1, 0],
  });
});
