import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reachable } from '../../src/egress/allowed.ts';
import { createEgress, type Egress, type EgressOptions } from '../../src/egress/egress.ts';
import { readEnv } from '../../src/env.ts';
import { administer } from '../configs/support.ts';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';
import { startTarget, type Target } from './targets.ts';

/** Tests the addresses that an operator allows with EGRESS_ALLOW, beside the public network. */
let target: Target;
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  target = await startTarget(({ url }, response) => {
    const [, status = '', to = ''] = /^\/(30\d)\?(.*)$/.exec(url) ?? [];
    if (status !== '') response.writeHead(Number(status), { location: decodeURIComponent(to) });
    response.end('ok');
  });
});
afterAll(() => target.close());
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const WITHIN = { maxBytes: 1_000, timeoutMs: 60_000 };
const REFUSED = 'address_refused';

function egressOf(allow: string, options: EgressOptions = {}): Egress {
  const made = createEgress({ ...options, allow: readEnv({ EGRESS_ALLOW: allow }).EGRESS_ALLOW });
  undo.push(() => made.close());
  return made;
}

/** The body of an answer, or the code of the refusal. */
const ask = (egress: Egress, address: string): Promise<string> =>
  egress.fetch(address, WITHIN).then(
    ({ body }) => body.toString(),
    ({ code }) => code,
  );

const at = (host: string, path = '/') => `http://${host}:${target.port}${path}`;

describe('a listed address', () => {
  it.each([
    ['127.0.0.1', 'by itself'],
    ['127.0.0.0/8', 'by its network'],
    ['10.0.0.0/8, ::1, 127.0.0.1/32', 'among others'],
  ])('%s is reached %s, by number and by name', async (allow) => {
    const egress = egressOf(allow, { resolve: async () => ['127.0.0.1'] });
    expect(await ask(egress, at('127.0.0.1'))).toBe('ok');
    expect(await ask(egress, at('hooks.example'))).toBe('ok');
  });

  it('allows no other address, in any spelling', async () => {
    const egress = egressOf('127.0.0.1, 10.1.0.0/16', { resolve: async () => ['127.0.0.2'] });
    for (const host of [
      '127.0.0.2',
      '10.2.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'hooks.example',
      'localhost',
    ]) {
      expect([host, await ask(egress, at(host))]).toEqual([host, REFUSED]);
    }
  });

  it('allows a name only when all its addresses are allowed', async () => {
    const egress = egressOf('127.0.0.1', { resolve: async () => ['127.0.0.1', '127.0.0.2'] });
    expect(await ask(egress, at('both.example'))).toBe(REFUSED);
  });

  it('never allows the metadata addresses of clouds, unless it is exactly that address', async () => {
    const egress = egressOf('0.0.0.0/0, ::/0, fd00::/8');
    for (const host of [
      '169.254.169.254',
      '[::ffff:169.254.169.254]',
      '169.254.170.23',
      '168.63.129.16',
      '100.100.100.200',
      '[fd00:ec2::254]',
      '[fd20:ce::254]',
    ]) {
      expect(() => egress.check(`http://${host}/latest`)).toThrow('no public address');
    }
    expect(egress.check('http://169.254.1.1/').hostname).toBe('169.254.1.1');
    expect(egressOf('169.254.169.254').check('http://169.254.169.254/').hostname).toBe('169.254.169.254');
  });
});

describe('a listed name', () => {
  it('is resolved by the system in any spelling, and no other name is', async () => {
    const egress = egressOf('LocalHost', { resolve: async () => ['127.0.0.1'] });
    expect(await ask(egress, at('localhost'))).toBe('ok');
    expect(await ask(egress, at('LOCALHOST.'))).toBe('ok');
    for (const host of ['a.localhost', 'localhost.example', '127.0.0.1', 'hooks.internal', 'intranet']) {
      expect([host, await ask(egress, at(host))]).toEqual([host, REFUSED]);
    }
  });

  it('never leads to the metadata addresses of clouds, in any spelling', () => {
    const { mayBeNamed } = reachable(['hooks.internal']);
    expect(mayBeNamed('10.0.0.1')).toBe(true);
    for (const address of ['169.254.169.254', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe']) {
      expect([address, mayBeNamed(address)]).toEqual([address, false]);
    }
  });

  it('is checked without a request', () => {
    const egress = egressOf('hooks.internal, Bücher.local');
    expect(egress.check('https://hooks.internal./x').hostname).toBe('hooks.internal.');
    expect(egress.check('https://bücher.local/').hostname).toBe('xn--bcher-kva.local');
    expect(() => egress.check('https://other.internal/')).toThrow('EGRESS_ALLOW');
  });
});

describe('the list', () => {
  it.each([301, 302, 303, 307, 308])('allows no other address by a redirect %i', async (status) => {
    const egress = egressOf('127.0.0.1, localhost', { resolve: async () => ['127.0.0.1'] });
    const via = (to: string) => at('localhost', `/${status}?${encodeURIComponent(to)}`);
    expect(await ask(egress, via(at('127.0.0.1')))).toBe('ok');
    for (const to of [at('127.0.0.2'), at('[::1]'), at('a.localhost'), 'file:///etc/passwd']) {
      expect([to, await ask(egress, via(to))]).toEqual([to, REFUSED]);
    }
  });

  it('allows no other address by a name that changes its address', async () => {
    const { heard } = target;
    const before = heard.length;
    const asked: string[] = [];
    // 127.0.0.3 is listed, and no server listens there; the target is at 127.0.0.1, which is not listed.
    const egress = egressOf('127.0.0.3', {
      resolve: async () => [asked.push('') % 2 === 1 ? '127.0.0.3' : '127.0.0.1'],
    });
    const outcomes = [];
    for (let i = 0; i < 4; i += 1) outcomes.push(await ask(egress, at('flip.example')));
    expect(outcomes).toEqual(['upstream_failed', REFUSED, 'upstream_failed', REFUSED]);
    expect(heard).toHaveLength(before);
  });

  it('is set by operators only, not by the configuration, and a listed target works from end to end', async () => {
    const server = await startServer({ env: { EGRESS_ALLOW: 'localhost', LOG_LEVEL: 'silent' } });
    undo.push(() => server.close());
    const root = await signUp(server, 'Root');
    const admin = administer(server, root);
    await admin.configure((configuration) => {
      configuration.webhook_url = at('localhost', '/signups');
      Object.assign(configuration, { EGRESS_ALLOW: ['127.0.0.2'], egress: { allow: ['127.0.0.2'] } });
    });
    await signUp(server, 'Ann');
    await until('the notice of the sign-up', () => target.heard.some(({ url }) => url === '/signups'));
    const notify = (webhook_url: string) =>
      server.call('POST /users/user/settings/update', {
        token: root.token,
        body: { ui: { notifications: { webhook_url } } },
      });
    expect((await notify(at('localhost'))).status).toBe(200);
    expect((await notify(at('127.0.0.2'))).body.code).toBe(REFUSED);
  });

  it.each([
    '*',
    '*.internal',
    '10.0.0.0/33',
    '10.0.0',
    'hooks.internal:8080',
    'http://hooks.internal',
    '0x7f.1',
  ])('with an invalid entry stops the start: %s', (entry) => {
    expect(() => readEnv({ EGRESS_ALLOW: `127.0.0.1,${entry}` })).toThrow(
      /EGRESS_ALLOW is wrong: each entry/,
    );
  });
});
