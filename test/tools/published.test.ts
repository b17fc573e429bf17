import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { contentOf, storeGolden } from './published.ts';
import { openWorkshop } from './workshop.ts';

/* Whole golden tools in the form that people publish, stored unchanged and called by the reader. */

const site = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<title>Hi</title><p>one, two<p>three');
}).listen(0, '127.0.0.1');
const shop = await openWorkshop();
await shop.permit('chat.file_upload', true);
afterAll(async () => {
  site.close();
  await shop.close();
});

it('reads a page, reports its progress, cites, and returns a file', async () => {
  const call = await storeGolden(shop, 'page_report');
  await shop.as(shop.reader, 'POST', 'page_report/valves/user/update', { separator: ';' });
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const { result, events } = await call('report', { url });
  const [, id] = /^\[report\.csv\]\(\/api\/v1\/files\/([0-9a-f-]{36})\/content\)$/.exec(result) ?? [];
  expect(await contentOf(shop, id ?? '')).toBe('1;one, two three\r\n2;three\r\n');
  expect(events.map(({ type }: { type: string }) => type)).toEqual(['status', 'citation', 'files', 'status']);
  expect(events[2].data.files[0]).toMatchObject({ id, name: 'report.csv' });
});

it('shows a page and describes it to the model', async () => {
  const call = await storeGolden(shop, 'chart_page');
  const { result, events } = await call('chart', { series: [{ name: 'a', values: [1, 2.5] }], title: 'T' });
  expect(result).toBe('1 series are shown');
  expect(events).toEqual([
    { type: 'embeds', data: { embeds: [expect.stringContaining('draw([{"name": "a"')] } },
  ]);
  expect(await call('chart', { series: [{ name: 'a', values: [] }] })).toMatchObject({
    code: 'arguments_invalid',
    issues: [{ path: 'series.0.values' }],
  });
});

it('gets an empty conversation and a clear error for missing functions', async () => {
  const call = await storeGolden(shop, 'conversation');
  expect((await call('last_question')).result).toBe('Nobody has asked anything.');
  expect((await call('title')).detail).toBe('NotOffered: Chats.get_chat_by_id is not offered by this server');
  expect((await call('summary')).result).toBe(
    'There is no summary: generate_chat_completion is not offered by this server',
  );
});

it('reports why it cannot draw, and stores a picture that it has', async () => {
  const call = await storeGolden(shop, 'draw_picture');
  const words = 'image_generations is not offered by this server';
  expect(await call('draw', { prompt: 'a cat' })).toMatchObject({
    result: `Tell the user: ${words}`,
    events: [{ type: 'status', data: { description: `Failed: ${words}`, done: true } }],
  });
  const { result } = await call('keep', { picture: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' });
  const id = result.split('/').at(-2);
  const file = await shop.server.call(`GET /files/${id}`, { token: shop.reader.token });
  expect(file.body).toMatchObject({ filename: 'generated-image.gif', user_id: shop.reader.id });
});
