import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/poll.ts';
import { startServer } from '../support/server.ts';
import { browserPath, bundleForBrowsers, servePage } from './browser.ts';
import { type Consumer, installConsumer, NODE_TYPES } from './consumer.ts';

let consumer: Consumer;

beforeAll(async () => {
  consumer = await installConsumer();
}, 600_000);
afterAll(() => consumer.remove());

const readme = async () => {
  const text = await readFile(join(import.meta.dirname, '..', '..', 'client', 'README.md'), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
};

test('packs code, declarations, README and licence, and no sources', () => {
  expect(consumer.packed).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.d.ts', 'dist/index.js', 'package.json']),
  );
  for (const path of consumer.packed) {
    expect(path).toMatch(/^(LICENSE|README\.md|package\.json|dist\/[a-z]+(\.d\.ts|\.js))$/);
  }
});

test('packs declarations that import no other package and document the public functions', async () => {
  const dist = join(consumer.folder, 'node_modules', '@parley', 'client', 'dist');
  for (const path of consumer.packed.filter((name) => name.endsWith('.d.ts'))) {
    const text = await readFile(join(dist, '..', path), 'utf8');
    const imports = [...text.matchAll(/(?:from |import\()['"]([^'"]+)/g)].map(([, name]) => name);
    for (const name of imports) expect(name).toMatch(/^\.\//);
  }
  const client = await readFile(join(dist, 'client.d.ts'), 'utf8');
  expect(client).toContain('A typed client of a Parley service.');
  expect(client).toContain('Lost connections are made good');
});

const PROGRAM = `
import { type Channel, type ChannelEvent, createClient, type Inputs, isParleyError, type Outputs } from '@parley/client';
const client = createClient({ url: 'http://127.0.0.1:8080', token: async () => 'x', fetch: (url, init) => fetch(url, init) });
const form: Inputs['channels']['create'] = { name: 'general' };
const channel: Channel = await client.api.channels.create.mutate(form);
const events: ChannelEvent[] = [];
const subscription = client.events({
  channelIds: [channel.id],
  onEvent: (event, id) => { events.push(event); id.length; },
  onError: ({ code }) => { if (code === 'unauthenticated') return; },
});
const { result }: Outputs['tools']['invoke'] = await client.api.tools.invoke.mutate({ id: 't', function: 'f' });
if (typeof result === 'string') result.length;
await subscription.ready.catch((error: unknown) => { if (isParleyError(error)) error.issues[0]?.path.length; });
client.api.channels.events.subscribe({}, { onData: (item) => { if ('id' in item) item.data.event_id.toFixed(); else item.notice.user.name.length; } });
const signal = new AbortController().signal;
for (const { id } of await client.api.channels.list.query(undefined, { signal })) id.length;
`;

test.each([
  ['the types of the DOM', {}],
  ['the types of Node.js', NODE_TYPES],
  ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }],
])('type-checks in a strict project with %s, libraries included', async (_name, options) => {
  expect(await consumer.typeCheck({ 'program.ts': PROGRAM }, options)).toBe('');
});

test('refuses to compile wrong members, a missing input and an unknown procedure', async () => {
  const lines: [string, string][] = [
    ['channel.nmae;', "Property 'nmae' does not exist"],
    ["client.api.channels.create.mutate({ nam: '' });", "'nam' does not exist"],
    ['client.api.channels.create.mutate();', 'Expected 1-2 arguments'],
    ['client.api.channels.crate;', "Property 'crate' does not exist"],
    ['events[0]?.data.type === "massage";', 'no overlap'],
  ];
  const complaints = await consumer.typeCheck({
    'program.ts': `${PROGRAM}${lines.map(([line]) => line).join('\n')}`,
  });
  for (const [, complaint] of lines) expect(complaints).toContain(complaint);
  expect(complaints.match(/error TS/g)).toHaveLength(lines.length);
});

test('README has snippets that type-check and work', async () => {
  const server = await startServer();
  try {
    const snippets = await readme();
    const files = Object.fromEntries(snippets.map((snippet, index) => [`snippet${index}.ts`, snippet]));
    expect(await consumer.typeCheck(files, NODE_TYPES)).toBe('');
    for (const [index, snippet] of snippets.entries()) {
      const promised = [...snippet.matchAll(/^ *\/\/ (.*)$/gm)].map(([, line]) => `${line}\n`).join('');
      const program = join(consumer.folder, `snippet${index}.js`);
      await writeFile(program, snippet.replace('http://127.0.0.1:8080', server.url));
      const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text) => {
        printed += text;
      });
      // The first snippet follows events without an end.
      if (!snippet.includes('client.close()')) {
        await until(`the output of snippet ${index}`, () => printed.length >= promised.length);
        child.kill();
      }
      await once(child, 'close');
      expect(printed).toBe(promised);
    }
  } finally {
    await server.close();
  }
});

test('makes a small browser bundle without Node.js modules', async () => {
  const bundle = await bundleForBrowsers(consumer);
  expect(bundle).not.toMatch(/node:|require\(|\bprocess\.|\bBuffer\b/);
  expect(bundle.length).toBeLessThan(40_000);
});

test.skipIf(!browserPath)(
  'signs up, posts and receives the event in a page of another origin (skipped without Chromium)',
  async () => {
    const page = await servePage(consumer, await bundleForBrowsers(consumer));
    const server = await startServer({ env: { CORS_ALLOW_ORIGIN: page.origin } });
    try {
      const report = await page.open(browserPath ?? '', server.url);
      expect(report).toEqual({ refused: 401, event_id: 2, content: 'from a browser' });
    } finally {
      await page.close();
      await server.close();
    }
  },
  600_000,
);
