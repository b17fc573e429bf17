import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createMailServer } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { contentOf, storeGolden } from './published.ts';
import { openSocket, openWorkshop } from './workshop.ts';

/*
 * More of the golden tools, each for a purpose that people publish tools for, stored unchanged and called by
 * the reader.
 */

const site = createServer(({ url }, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(`<title>Page ${url}</title><p>one &amp; two<script>no</script><a href="/b">b</a>`);
}).listen(0, '127.0.0.1');

/** Mails that the server received. It refuses every sign-in. */
const letters: string[] = [];
const ANSWERS: Record<string, string> = {
  ehlo: '250-here\r\n250 AUTH PLAIN',
  auth: '535 wrong',
  data: '354 go on',
  quit: '221 bye',
};
const mail = createMailServer(async (socket) => {
  socket.write('220 ready\r\n');
  let letter: string[] | undefined;
  for await (const line of createInterface(socket)) {
    if (letter && line !== '.') letter.push(line);
    else if (letter) letters.push(letter.join('\n'));
    if (letter && line !== '.') continue;
    const verb = line.slice(0, 4).toLowerCase();
    letter = verb === 'data' ? [] : undefined;
    socket.write(`${ANSWERS[verb] ?? '250 ok'}\r\n`);
  }
}).listen(0, '127.0.0.1');
await Promise.all([once(site, 'listening'), once(mail, 'listening')]);
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
const at = (path: string) => `http://127.0.0.1:${portOf(site)}${path}`;

const shop = await openWorkshop();
await shop.permit('chat.file_upload', true);
afterAll(async () => {
  site.close();
  mail.close();
  await shop.close();
});

const typesOf = (events: { type: string }[]) => events.map(({ type }) => type);
const idIn = (text: string) => /\/api\/v1\/files\/([0-9a-f-]{36})\/content/.exec(text)?.[1] ?? '';

it('exports a table and returns a link to it', async () => {
  const call = await storeGolden(shop, 'export_table');
  const rows = [{ name: 'Zoë', age: 7 }, { name: 'Bo' }];
  const { result, events } = await call('export_table', { rows, filename: 'people' });
  expect(result).toMatch(
    new RegExp(`^\\[people\\.csv\\]\\(${shop.server.url}/api/v1/files/[^/]+/content\\)$`),
  );
  expect(events).toEqual([{ type: 'message', data: { content: result } }]);
  // `fetch` removes the byte order mark, which is there for spreadsheets.
  expect(await contentOf(shop, idIn(result))).toBe('name,age\r\nZoë,7\r\nBo,\r\n');
  const json = (await call('export_table', { rows, kind: 'json' })).result;
  expect(JSON.parse(await contentOf(shop, idIn(json)))).toEqual(rows);
});

it('sends mail in a thread, and its password stays secret', async () => {
  const call = await storeGolden(shop, 'send_mail');
  const set = (values: object) => shop.as(shop.author, 'POST', 'send_mail/valves/update', values);
  await set({ smtp_host: '127.0.0.1', smtp_port: portOf(mail), use_tls: false });
  const letter = { to: ['a@example.com', 'b@example.com'], subject: 'Grüße', body: 'Hello' };
  const sent = await call('send_mail', {
    ...letter,
    attachments: [{ name: 'a.txt', text: 'attached' }],
  });
  expect([sent.detail, sent.result]).toEqual([undefined, 'Sent to 2 of 2.']);
  expect(typesOf(sent.events)).toEqual(['status', 'status']);
  expect(letters).toEqual([expect.stringContaining('Reply-To: reader@example.com')]);
  expect(letters[0]).toContain(`filename="a.txt"`);
  expect((await set({ username: 'me', password: 'owl 7' })).body.password).toBe('owl 7');
  expect((await call('send_mail', letter)).result).toBe('The mailbox refused the password (535).');
});

it('makes a calendar in the time zone of its user', async () => {
  const call = await storeGolden(shop, 'calendar_file');
  await shop.as(shop.reader, 'POST', 'calendar_file/valves/user/update', { zone: 'Asia/Kolkata' });
  const { result } = await call('make_calendar', {
    entries: [
      { title: 'Tea', start: '2026-07-01T10:00:00', minutes: 30 },
      { title: 'Call', start: '2026-07-02T10:00:00+00:00' },
    ],
  });
  expect(result.file.match(/^(DTSTART|DTEND).*$/gm)).toEqual([
    'DTSTART:20260701T043000Z',
    'DTEND:20260701T050000Z',
    'DTSTART:20260702T100000Z',
    'DTEND:20260702T110000Z',
  ]);
  expect(result.made).toMatchObject({ count: 2, first: '2026-07-01T10:00:00+05:30' });
});

it('keeps a database in its folder', async () => {
  const call = await storeGolden(shop, 'shop_database');
  expect((await call('list_tables')).result).toEqual({ item: ['id', 'name', 'price'] });
  const { result } = await call('run_query', {
    sql: 'select name from item where price > ?',
    parameters: [3],
  });
  expect(result).toBe('| name |\n| --- |\n| cake |');
  expect((await call('run_query', { sql: 'delete from item' })).result).toBe(
    'Error: only SELECT is allowed.',
  );
  expect((await call('run_query', { sql: 'with x as (delete from item) select 1' })).result).toMatch(
    /^Error: /,
  );
});

it('reads pages in threads and in concurrent tasks', async () => {
  const call = await storeGolden(shop, 'site_reader');
  const { result, events } = await call('read_pages', { urls: [at('/a'), at('/b'), 'http://127.0.0.1:1/'] });
  expect(JSON.parse(result)).toEqual([
    { title: 'Page /a', url: at('/a'), content: 'Page /a one & two b', links: [at('/b')] },
    { title: 'Page /b', url: at('/b'), content: 'Page /b one & two b', links: [at('/b')] },
    { url: 'http://127.0.0.1:1/', error: 'ConnectionError' },
  ]);
  expect(typesOf(events)).toEqual(['status', 'citation', 'citation', 'status']);
  expect((await call('follow', { url: at('/a') })).result).toEqual({
    [at('/a')]: 'Page /a',
    [at('/b')]: 'Page /b',
  });
});

it('emits progress from its threads', async () => {
  const call = await storeGolden(shop, 'progress');
  const { result, events } = await call('count', { to: 4 });
  expect([result, events.length]).toEqual([10, 4]);
  const plain = await call('count_plainly', { to: 4 });
  expect([plain.result, typesOf(plain.events)]).toEqual([[0, 1, 4, 9], ['status']]);
  expect((await call('schedule')).events).toEqual([{ type: 'status', data: { description: 'own' } }]);
});

it('asks its caller before it acts', async () => {
  const call = await storeGolden(shop, 'ask_first');
  expect((await call('rename_project', { project: 'Owl' })).detail).toContain('cannot be asked');
  const { client, sockets } = openSocket(shop.server.url, shop.reader.token);
  const asked: unknown[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test is about
  const items: any[] = [];
  client.tools.run.subscribe(
    { id: 'ask_first', function: 'rename_project', arguments: { project: 'Owl' } },
    { onData: ({ data }) => items.push(data) },
  );
  for (const answer of ['Eagle', true]) {
    const item = await until('a question', () =>
      items.find((one) => one.type === 'ask' && one.ask === asked.length + 1),
    );
    asked.push(item.event.type);
    const body = { ask: item.ask, answer };
    await shop.server.call(`POST /tools/runs/${items[0].run_id}/answer`, { token: shop.reader.token, body });
  }
  const end = await until('the result', () => items.find(({ type }) => type === 'result'));
  expect([asked, end.result]).toEqual([['input', 'confirmation'], 'Owl is Eagle now.']);
  sockets.close();
});

it('shows figures and returns other kinds of responses', async () => {
  const call = await storeGolden(shop, 'dashboard');
  const shown = await call('dashboard', { title: '<x>', values: [1, 2] });
  expect([shown.result.code, shown.events[0].data.embeds[0]]).toEqual([
    'ui_component',
    expect.stringContaining('<title>&lt;x&gt;</title><p>1.5</p>'),
  ]);
  expect((await call('dashboard', { title: 'x', values: [] })).result).toBe('There is nothing to show.');
  expect((await call('dashboard_with_words', { title: 'x' })).result).toEqual({ shown: 'x', status: 'ok' });
  const others = await Promise.all(['json', 'text', 'page'].map((kind) => call('raw', { kind })));
  expect(others.map(({ result }) => result)).toEqual(['{"a":[1,2]}', 'text', '<p>not inline</p>']);
});

it('paints a picture, stores it and reads it again', async () => {
  const call = await storeGolden(shop, 'picture_maker');
  const { result, events } = await call('paint', { width: 9_999, height: 1 });
  expect([result, typesOf(events)]).toEqual(['generated-image.png image/png True ', ['files', 'message']]);
  const id = idIn(events[1].data.content);
  expect((await call('thumbnail', { file_id: id })).result).toEqual({ kept: 'generated-image.png.head' });
  expect((await call('thumbnail', { file_id: 'x' })).result).toEqual({ error: 'There is no such file.' });
});

it('runs commands and packs files', async () => {
  const call = await storeGolden(shop, 'commands');
  expect((await call('shell', { command: 'echo hi | tr h H' })).result).toBe('Hi\n');
  const { result } = await call('pack', { files: { 'a/b.txt': 'ü', 'c.txt': 'd' } });
  expect(result.names).toEqual(['a/b.txt', 'c.txt']);
});

it('has settings of every kind, and no call changes them for the next', async () => {
  const call = await storeGolden(shop, 'valves_secret');
  const values = { API_KEY: 'abc', LEVEL: 'high', SERVERS: [{ host: 'x', token: 'tok' }], PIN: 1234 };
  const set = await shop.as(shop.author, 'POST', 'valves_secret/valves/update', values);
  expect([set.status, set.body]).toEqual([200, values]);
  await shop.as(shop.reader, 'POST', 'valves_secret/valves/user/update', { LANGUAGE: 'de', TOKEN: 'mine' });
  const shown = { level: 'high', key: '**********', letters: 3, tokens: [3], language: 'de', own: 4 };
  expect((await call('show')).result).toMatchObject(shown);
  expect((await call('set_level', { level: 'low' })).result).toBe('low');
  expect((await call('show')).result).toMatchObject(shown);
  await shop.as(shop.author, 'POST', 'valves_secret/valves/update', {
    API_KEY: null,
    LEVEL: null,
    SERVERS: null,
    PIN: null,
  });
  expect((await call('set_level', { level: 'low' })).result).toBe('low');
  expect((await call('show')).result).toMatchObject({
    ...shown,
    level: 'low',
    key: '',
    letters: 0,
    tokens: [],
  });
});
