import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { offerWheels, type Wheels } from './wheels.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

/** Collects the requests that loading sources send; a load goes on when its request is answered. */
const heard: ServerResponse[] = [];
let loads = 0;
const listener = createServer((_request, response) => {
  loads += 1;
  heard.push(response);
});

let shop: Workshop;
let wheels: Wheels;
beforeAll(async () => {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  wheels = await offerWheels([['greeter', '1.0', 'hello', []]]);
  shop = await openWorkshop({});
  await shop.configure(({ tools }) => {
    tools.install_requirements = true;
  });
});
afterAll(async () => {
  listener.closeAllConnections();
  listener.close();
  await shop.close();
  await wheels.close();
});

const source = (requirements: string, end: string) =>
  `"""\nrequirements: ${requirements}\n"""
from urllib.request import urlopen
urlopen("http://127.0.0.1:${(listener.address() as AddressInfo).port}/").read()
${end}
`;
const call = (id: string) => shop.as(shop.reader, 'POST', `${id}/call`, { function: 'f' });
const look = async (id: string) => (await shop.as(shop.author, 'GET', `${id}/install`)).body;
const letGo = () => {
  for (const response of heard.splice(0)) response.end();
};

it('loads a source that fails with its packages once for all callers', async () => {
  await shop.create('broken', source('greeter', 'raise ValueError("no luck")'));
  await until('the load of the job', () => heard.length === 1);
  // The first call of the reader loads the source as well, on the account of the reader. The other calls
  // share that load.
  const calls = Array.from({ length: 6 }, () => call('broken'));
  await until('the load of the calls', () => heard.length === 2);
  letGo();
  for (const { status, body } of await Promise.all(calls)) {
    expect([status, body.code, body.detail]).toEqual([
      409,
      'tool_not_ready',
      expect.stringContaining('no luck'),
    ]);
  }
  expect(await look('broken')).toMatchObject({ state: 'failed', detail: expect.stringContaining('no luck') });
  for (let n = 0; n < 6; n += 1) expect((await call('broken')).status).toBe(409);
  expect(loads).toBe(2);
});

it('loads it again when the author asks for it or changes the source', async () => {
  const before = loads;
  const again = shop.as(shop.author, 'POST', 'broken/install');
  await until('another load', () => heard.length === 1);
  letGo();
  expect((await again).status).toBe(400);
  const mended = source('greeter', 'class Tools:\n    def f(self): return "here"');
  const update = shop.as(shop.author, 'POST', 'broken/update', { name: 'b', meta: {}, content: mended });
  await until('the load of the other source', () => heard.length === 1);
  letGo();
  expect((await update).status).toBe(200);
  expect(loads).toBe(before + 2);
  expect(await look('broken')).toMatchObject({ state: 'ready' });
});

it('does not blame the source for packages that were removed while it loaded', async () => {
  const parted = source('greeter>0.5', 'import greeter\nclass Tools:\n    def f(self): return greeter.say()');
  await shop.create('parted', parted);
  await until('the load', () => heard.length === 1);
  const site = await shop.python.packages.find(['greeter>0.5']);
  await rm(dirname(site ?? ''), { recursive: true });
  letGo();
  const answer = await until('the tool to answer', async () => {
    const called = call('parted');
    await until('an answer, or the load before it', async () => {
      letGo();
      return Promise.race([called, setTimeout(10)]);
    });
    const { status, body } = await called;
    return status === 200 && body;
  });
  expect(answer.result).toBe('hello');
});
