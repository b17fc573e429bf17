import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { CLIENTS_BIN, withoutClients } from '../openai/python.ts';
import { readFences, runFences } from '../support/fences.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { toolOf } from '../support/python.ts';
import { openWorkshop } from '../tools/workshop.ts';

const PAGE = new URL('../../docs/openai.md', import.meta.url);

const missing = await withoutClients();
const provider = await startProvider('smollm2-135m', 'qwen3:4b');
const { server, admin, create, configure, close } = await openWorkshop();
const folder = await mkdtemp(join(tmpdir(), 'parley-page-'));
afterAll(async () => {
  await close();
  await provider.close();
  await rm(folder, { recursive: true });
});

it('the examples of the page work as written, in their order', { timeout: 120_000 }, async ({ skip }) => {
  if (missing) skip(missing);
  await configure(({ auth }) => {
    auth.enable_api_keys = true;
  });
  await connectProvider(server, admin, provider, { name: 'scripted' });
  await create('dice', toolOf('def roll(self, sides: int) -> str:\n    return "4"'));
  provider.script((request, wire) => {
    const { model, messages } = request.body;
    const { role, content } = messages.at(-1);
    if (role === 'tool') wire.say(`You rolled ${content}.`);
    else if (model === 'qwen3:4b') wire.call({ name: 'roll', arguments: { sides: 6 } });
    else wire.say('The capital of France is Paris.');
  });
  const fences = (await readFences(PAGE)).map(({ text, ...fence }) => ({
    ...fence,
    text: text.replaceAll(/(http:\/\/)?localhost:8080/g, server.url),
  }));
  const outputs = await runFences(fences, { folder, env: { TOKEN: admin.token }, path: [CLIENTS_BIN] });
  const texts = outputs.filter(({ next }) => next?.language === 'text');
  expect(texts.map(({ printed }) => printed)).toEqual(texts.map(({ next }) => next?.text));
  expect(texts).toHaveLength(4);
  const [json] = outputs.filter(({ next }) => next?.language === 'json');
  const varying = { id: '', created: 0 };
  const told = (text = ''): object => {
    const answer = JSON.parse(text);
    for (const call of answer.parley.tool_calls) call.duration_ms = 0;
    return { ...answer, ...varying };
  };
  expect(told(json?.printed)).toEqual(told(json?.next?.text));
});
