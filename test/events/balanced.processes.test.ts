import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { call, type Person, signUp, signUpAs } from '../support/server.ts';
import { contentsOfEvents, listenBySocket, subscribe } from './listen.ts';

/*
 * Two processes behind a balancer without sticky sessions: each connection goes to the next process in turn.
 */
describe.skipIf(withoutRedis)('behind a round-robin balancer', () => {
  let pair: Pair;
  let balancer: Server;
  let url: string;
  let root: Person;
  let reader: Person;
  let channelId: string;
  let turn = 0;

  beforeAll(async () => {
    pair = await startPair();
    const ports = [pair.here, pair.there].map((server) => Number(new URL(server.url).port));
    balancer = createServer((near) => {
      turn += 1;
      const far = connect(ports[turn % 2] ?? 0, '127.0.0.1');
      near.on('error', () => far.destroy()).pipe(far);
      far.on('error', () => near.destroy()).pipe(near);
    });
    balancer.listen(0, '127.0.0.1');
    await once(balancer, 'listening');
    url = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
    root = await signUp(pair.here, 'Root');
    reader = await signUpAs(pair.here, root, 'Reader', 'user');
    channelId = await makeChannel(pair.here, root, grant(reader.id, 'read'));
  });
  afterAll(async () => {
    await pair.close();
    balancer.close();
  });

  it('every event reaches every client over WebSocket, from either process', async () => {
    const options = { auth: { events: 'envelope' } };
    const sockets = await Promise.all([0, 1, 2].map(() => listenBySocket(url, reader.token, options)));
    const subscriptions = await Promise.all([0, 1, 2].map(() => subscribe(url, reader.token)));
    const told = Array.from({ length: 10 }, (_, n) => `message ${n}`);
    for (const content of told) {
      // Without keep-alive, the next call goes to the other process.
      const { status } = await call(url, `POST /channels/${channelId}/messages/post`, {
        token: root.token,
        body: { content },
        headers: { connection: 'close' },
      });
      expect(status).toBe(200);
    }
    const heard = () => [
      ...sockets.map(({ enveloped }) => contentsOfEvents(enveloped)),
      ...subscriptions.map(({ items }) => contentsOfEvents(items.map(({ event }) => event))),
    ];
    await until('all of it', () => heard().every(({ length }) => length >= told.length));
    expect(heard()).toEqual(Array(6).fill(told));
    for (const one of [...sockets, ...subscriptions]) one.close();
  });

  it('polling needs sticky sessions; otherwise the client is told that its session is unknown', async () => {
    const headers = { connection: 'close' };
    const address = `${url}/ws/socket.io/?EIO=4&transport=polling`;
    const opened = await (await fetch(address, { headers })).text();
    const { sid } = JSON.parse(opened.slice(1));
    const answer = await fetch(`${address}&sid=${sid}`, { headers });
    expect([answer.status, await answer.json()]).toEqual([400, { code: 1, message: 'Session ID unknown' }]);
  });
});
