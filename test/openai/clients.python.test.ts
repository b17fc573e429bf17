import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { connectProvider, startProvider } from '../support/provider.ts';
import { toolOf } from '../support/python.ts';
import { openWorkshop } from '../tools/workshop.ts';
import { CLIENTS_BIN, withoutClients } from './python.ts';
import { makeKey } from './wire.ts';

/** The official Python clients of OpenAI and Anthropic, and LangChain, unchanged. */

const PROGRAM = join(import.meta.dirname, 'python/clients.py');
const missing = await withoutClients();

const provider = await startProvider('small');
const { server, admin, create, configure, close } = await openWorkshop();
afterAll(async () => {
  await close();
  await provider.close();
});

it('work with the server as with their own services', { timeout: 120_000 }, async ({ skip }) => {
  if (missing) skip(missing);
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
  const { stdout } = await promisify(execFile)(join(CLIENTS_BIN, 'python'), [PROGRAM, server.url, key]);
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
