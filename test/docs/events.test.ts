import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CHANNEL_EVENTS, NOTICE_TYPES } from '../../src/channelbase/channels.notices.schema.ts';
import { ChannelReloadView } from '../../src/channels/events/events.schema.ts';
import { MESSAGE_EVENTS } from '../../src/messages/messages.schema.ts';
import { readFences, runFences } from '../support/fences.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { signUp, startServer } from '../support/server.ts';

const PAGE = new URL('../../docs/events.md', import.meta.url);

const server = await startServer();
const ada = await signUp(server, 'Ada');
const provider = await startProvider('small');
provider.script((_request, wire) => wire.say('The capital of France is Paris.'));
await connectProvider(server, ada, provider);
const { body: channel } = await server.as(ada)('POST /channels/create', { name: 'general' });
const folder = await mkdtemp(join(tmpdir(), 'parley-page-'));
afterAll(async () => {
  await server.close();
  await provider.close();
  await rm(folder, { recursive: true });
});

test('the programs of the page receive what the page says', async () => {
  const outputs = await runFences(await readFences(PAGE), {
    folder,
    env: { URL: server.url, TOKEN: ada.token, CHANNEL: channel.id },
  });
  expect(outputs).toHaveLength(3);
  for (const { printed, next } of outputs) expect(printed).toBe(next?.text);
});

test('the examples of an event and of a reload have the members that clients receive', async () => {
  const [event, reload] = (await readFences(PAGE))
    .filter(({ language }) => language === 'json')
    .map(({ text }) => JSON.parse(text));
  const { body: page } = await server.as(ada)(`GET /channels/${channel.id}/messages`);
  expect(Object.keys(page[0])).toEqual(expect.arrayContaining(Object.keys(event.data.data)));
  expect(Object.keys(event)).toEqual([
    'event_id',
    'channel_id',
    'message_id',
    'created_at',
    'data',
    'user',
    'channel',
  ]);
  expect(ChannelReloadView.strict().parse(reload)).toEqual(reload);
});

test('the page names every type of event and notice', async () => {
  const text = await readFile(PAGE, 'utf8');
  for (const type of [...MESSAGE_EVENTS, ...CHANNEL_EVENTS, ...NOTICE_TYPES])
    expect(text).toContain(`\`${type}\``);
});
