import { afterAll, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { proxyDatabase } from '../support/proxy.ts';
import { configure, gate, openDesk } from './desk.ts';

/** A server whose PostgreSQL is away for a while. */
const database = await createDatabase();
const proxy = await proxyDatabase(database.url);
const desk = await openDesk(['small', 'other'], { database: { ...database, url: proxy.url } });
afterAll(async () => {
  proxy.restore();
  await desk.close();
  await proxy.close();
  await database.drop();
});

it('a reply that ends while the database is away is stored whole, and calls the next model', async () => {
  await configure(desk.server, desk.root, ({ channels }) => {
    channels.model_chain = 2;
  });
  const rest = gate();
  const begun = gate();
  desk.provider.script(async (request, wire) => {
    if (request.body.model === 'other') return wire.say('Here.');
    wire.delta({ content: 'Ask' });
    begun.open();
    await rest.opened;
    wire.delta({ content: ' @other please.' });
    wire.finish();
  });
  const { id } = await desk.post('@small');
  const [reply] = await desk.replies(id);
  await begun.opened;
  await until('a save', async () => (await desk.get(reply.id)).content === 'Ask');
  const chat = desk.provider.chats().at(-1);
  proxy.cut();
  rest.open();
  await chat?.closed;
  // The server finds that the database is away when it stores the end.
  await new Promise((resolve) => setTimeout(resolve, 500));
  proxy.restore();
  const replies = await desk.answers(id, 2);
  expect(replies.map(({ content, meta }) => [content, meta.error])).toEqual([
    ['Ask @other please.', undefined],
    ['Here.', undefined],
  ]);
});
