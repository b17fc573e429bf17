import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createEgress, type Egress } from '../../src/egress/egress.ts';
import { until } from '../support/poll.ts';
import { egressToHere, startTarget, type Target } from './targets.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const egress = egressToHere();
afterAll(() => egress.close());

async function target(...answer: Parameters<typeof startTarget>): Promise<Target> {
  const started = await startTarget(...answer);
  undo.push(() => started.close());
  return started;
}

function keep(made: Egress): Egress {
  undo.push(() => made.close());
  return made;
}

const WITHIN = { maxBytes: 1_000, timeoutMs: 60_000 };

describe('a request to another server', () => {
  it('sends what it is given with a user agent, and returns any answer', async () => {
    const { url, heard } = await target((_request, response) => {
      response.writeHead(418, { 'x-kind': 'teapot', 'set-cookie': 'a=b' }).end('short and stout');
    });
    const headers = { 'content-type': 'application/json', authorization: 'Bearer x' };
    const answer = await egress.fetch(`${url}/hook?x=1`, { method: 'POST', headers, body: '{}', ...WITHIN });
    expect([answer.status, answer.body.toString()]).toEqual([418, 'short and stout']);
    expect(answer.headers.get('x-kind')).toBe('teapot');
    await egress.fetch(url, WITHIN);
    expect(heard[0]).toMatchObject({ method: 'POST', url: '/hook?x=1', body: '{}', headers });
    expect(heard[0]?.headers['user-agent']).toMatch(/^Parley\/\d+\.\d+\.\d+$/);
    expect(heard[1]?.headers).not.toHaveProperty('cookie');
  });

  it('keeps the connection for some seconds, even when the other server asks for more', async () => {
    const server = createServer((_request, response) => response.end('ok'));
    server.keepAliveTimeout = 600_000;
    server.listen(0, '127.0.0.1');
    undo.push(() => server.close());
    const [[socket]] = (await Promise.all([
      once(server, 'connection'),
      once(server, 'listening').then(() =>
        egress.fetch(`http://target.example:${(server.address() as AddressInfo).port}`, WITHIN),
      ),
    ])) as [[Socket], unknown];
    await once(socket, 'close');
  });

  it('refuses a header that contains another one', async () => {
    const { url, heard } = await target();
    const headers = { 'x-a': 'b\r\nx-evil: 1' };
    await expect(egress.fetch(url, { headers, ...WITHIN })).rejects.toMatchObject({ code: 'bad_request' });
    expect(heard).toEqual([]);
  });

  it('reads no more than its limit, counted after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const { url, heard } = await target(({ url: path }, response) => {
      if (path === '/bomb') {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
      } else response.end('x'.repeat(path === '/fits' ? 1_000 : 1_001));
    });
    expect((await egress.fetch(`${url}/fits`, WITHIN)).body).toHaveLength(1_000);
    const tooLarge = { code: 'answer_too_large' };
    await expect(egress.fetch(`${url}/over`, WITHIN)).rejects.toMatchObject(tooLarge);
    await expect(egress.fetch(`${url}/bomb`, WITHIN)).rejects.toMatchObject(tooLarge);
    const cut = await egress.fetch(`${url}/bomb`, { ...WITHIN, excess: 'cut' });
    expect(cut.body).toHaveLength(1_000);
    expect(heard).toHaveLength(4);
  });

  it('ends at its time limit, without an answer or with an endless one', async () => {
    const { url, heard } = await target(({ url: path }, response) => {
      if (path === '/drip') response.write('a');
    });
    const timeout = { code: 'upstream_timeout' };
    for (const path of ['/hang', '/drip']) {
      // Until the request arrives within the limit.
      for (let timeoutMs = 50; !heard.some((one) => one.url === path); timeoutMs *= 2)
        await expect(egress.fetch(url + path, { ...WITHIN, timeoutMs })).rejects.toMatchObject(timeout);
    }
  });

  it('ends with the signal of the caller', async () => {
    const { url, heard } = await target(() => {});
    const controller = new AbortController();
    const answer = egress.fetch(url, { ...WITHIN, signal: controller.signal });
    const caught = answer.catch((error: Error) => error.name);
    await until('the request to arrive', () => heard.length > 0);
    controller.abort();
    expect(await caught).toBe('AbortError');
  });

  it('reports that no server answers', async () => {
    const gone = await startTarget();
    await gone.close();
    await expect(egress.fetch(gone.url, WITHIN)).rejects.toMatchObject({ code: 'upstream_failed' });
    const lost = keep(egressToHere({ resolve: async () => [] }));
    await expect(lost.fetch(gone.url, WITHIN)).rejects.toThrow('target.example');
    const port = 'http://target.example:25/';
    await expect(egress.fetch(port, WITHIN)).rejects.toMatchObject({ code: 'address_refused' });
  });
});

describe('the connected address', () => {
  const refused = { code: 'address_refused' };

  it('is in the public network, for names and for numbers', async () => {
    const { port, heard } = await target();
    for (const found of [['127.0.0.1'], ['::1'], ['93.184.215.14', '127.0.0.1'], ['169.254.169.254']]) {
      const strict = keep(createEgress({ resolve: async () => found }));
      await expect(strict.fetch(`http://target.example:${port}/`, WITHIN)).rejects.toMatchObject(refused);
    }
    const strict = keep(createEgress());
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost']) {
      await expect(strict.fetch(`http://${host}:${port}/`, WITHIN)).rejects.toMatchObject(refused);
    }
    expect(heard).toEqual([]);
  });

  it('is the one that was checked, even when name servers change their answer', async () => {
    const { port, heard } = await target();
    const answers: string[] = [];
    const flipping = keep(
      createEgress({
        // No server listens at the allowed address; the server listens at the other one.
        resolve: async () => [answers.push('') % 2 === 1 ? '127.0.0.2' : '127.0.0.1'],
        mayConnect: (address) => address === '127.0.0.2',
      }),
    );
    const codes: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await flipping.fetch(`http://flip.example:${port}/`, WITHIN).catch(({ code }) => codes.push(code));
    }
    expect(codes).toEqual(['upstream_failed', 'address_refused', 'upstream_failed', 'address_refused']);
    expect(answers).toHaveLength(4);
    expect(heard).toEqual([]);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('%i is followed, and its address is checked too', async (status) => {
    const { port, url, heard } = await target(({ url: path }, response) => {
      if (path === '/end') return response.end('there');
      const to = {
        '/inside': `http://127.0.0.2:${port}/`,
        '/name': 'http://localhost/',
        '/file': 'file:///etc/passwd',
        '/bad': 'http://[',
      };
      response.writeHead(status, { location: to[path as keyof typeof to] ?? '/end' }).end();
    });
    const answer = await egress.fetch(`${url}/begin`, WITHIN);
    expect([answer.url, answer.body.toString()]).toEqual([`${url}/end`, 'there']);
    for (const path of ['/inside', '/name', '/file', '/bad']) {
      await expect(egress.fetch(url + path, WITHIN)).rejects.toMatchObject({ code: 'address_refused' });
    }
    expect(heard).toHaveLength(6);
  });

  it('is followed five times at most', async () => {
    const { url, heard } = await target((_request, response) => {
      response.writeHead(302, { location: '/again' }).end();
    });
    expect((await egress.fetch(url, WITHIN)).status).toBe(302);
    expect(heard).toHaveLength(6);
    expect((await egress.fetch(url, { ...WITHIN, maxRedirects: 0 })).status).toBe(302);
    expect(heard).toHaveLength(7);
  });

  it('sends neither credentials nor a body to another server', async () => {
    const other = await target();
    const first = await target(({ url: path }, response) => {
      response.writeHead(path === '/303' ? 303 : 307, { location: `${other.url}/elsewhere` }).end();
    });
    const headers = { authorization: 'Bearer x', 'x-api-key': 'y', accept: 'text/plain' };
    await egress.fetch(first.url, { headers, ...WITHIN });
    expect(other.heard[0]?.headers).toMatchObject({ accept: 'text/plain' });
    expect(other.heard[0]?.headers).not.toHaveProperty('authorization');
    expect(other.heard[0]?.headers).not.toHaveProperty('x-api-key');
    const post = { method: 'POST', headers, body: 'secret', ...WITHIN } as const;
    await egress.fetch(`${first.url}/303`, post);
    expect(other.heard[1]).toMatchObject({ method: 'GET', body: '' });
    await expect(egress.fetch(first.url, post)).rejects.toMatchObject({ code: 'address_refused' });
    expect(other.heard).toHaveLength(2);
  });
});
