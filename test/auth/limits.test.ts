import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { administer } from '../configs/support.ts';
import { type Pair, startPair } from '../support/pair.ts';
import { withoutRedis } from '../support/redis.ts';
import { type Answer, PASSWORD, PROXY, signUp, startServer, type TestServer } from '../support/server.ts';

/** The server is behind a proxy of this machine, so that callers can come from any address. */
const BEHIND = { ...PROXY.env, TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48' };

const server = await startServer({ env: BEHIND });
afterAll(() => server.close());
await signUp(server, 'Ada');

let hosts = 0;
/** An address that no caller has used before. */
const anywhere = () => `198.51.${Math.floor(++hosts / 250)}.${hosts % 250}`;

interface From {
  at?: TestServer;
  ip?: string;
  cookie?: string;
  password?: string;
}
const tryIn = (email: string, { at = server, ip = anywhere(), cookie = '', password = 'wrong' }: From = {}) =>
  at.call('POST /auths/signin', {
    headers: { ...PROXY.headers, 'x-forwarded-for': ip, ...(cookie && { cookie }) },
    body: { email, password },
  });
const times = async <T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> => {
  const answers: T[] = [];
  for (let i = 0; i < count; i++) answers.push(await work(i));
  return answers;
};
const statuses = (answers: Answer[]) => answers.map(({ status }) => status);
const deviceOf = ({ headers }: Answer) =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith('device='))
    ?.split(';')[0] ?? '';

async function newcomer(name: string, at = server): Promise<{ email: string; device: string }> {
  const email = `${name}@example.com`;
  const answer = await at.call('POST /auths/signup', {
    headers: { ...PROXY.headers, 'x-forwarded-for': anywhere() },
    body: { email, name, password: PASSWORD },
  });
  return { email, device: deviceOf(answer) };
}

describe('attempts for one mail address', () => {
  it('are limited to five in three minutes from all networks, and the refusal says when to come back', async () => {
    const { email } = await newcomer('five');
    expect(statuses(await times(5, () => tryIn(email)))).toEqual([400, 400, 400, 400, 400]);
    const { status, body, headers } = await tryIn(email, { password: PASSWORD });
    expect([status, body.code]).toEqual([429, 'rate_limited']);
    const wait = Number(headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(180);
    expect(body.detail).toContain(`${wait} seconds`);
  });

  it('are limited also when they come at once, and when they succeed', async () => {
    const { email } = await newcomer('atonce');
    const answers = await Promise.all(Array.from({ length: 12 }, () => tryIn(email, { password: PASSWORD })));
    expect(statuses(answers).filter((status) => status === 200)).toHaveLength(5);
    expect(statuses(answers).filter((status) => status === 429)).toHaveLength(7);
  });

  it('count for all spellings of an address, also of an unknown one', async () => {
    const { email } = await newcomer('spelt');
    const spellings = [email, email.toUpperCase(), ` ${email} `, 'SpElT@example.com', 'spelt@EXAMPLE.com'];
    await times(5, (i) => tryIn(spellings[i] ?? ''));
    expect((await tryIn(email)).status).toBe(429);
    expect(statuses(await times(6, () => tryIn('nobody@example.com')))).toEqual([
      400, 400, 400, 400, 400, 429,
    ]);
  });

  it('of strangers do not lock out a user on a device that has signed in before', async () => {
    const { email, device } = await newcomer('owner');
    await times(6, () => tryIn(email));
    expect((await tryIn(email, { password: PASSWORD })).status).toBe(429);
    const known = await tryIn(email, { password: PASSWORD, cookie: device });
    expect(known.status).toBe(200);
    expect(deviceOf(known)).not.toBe('');
    expect(statuses(await times(4, () => tryIn(email, { cookie: device })))).toEqual([400, 400, 400, 400]);
    expect((await tryIn(email, { cookie: device, password: PASSWORD })).status).toBe(429);
  });

  it('are five for a client that keeps its cookies, since a known device keeps its id', async () => {
    const { email, device } = await newcomer('keeper');
    let cookie = device;
    const answers = await times(6, async () => {
      const answer = await tryIn(email, { cookie, password: PASSWORD });
      cookie = deviceOf(answer) || cookie;
      return answer;
    });
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('are five for a client that keeps the cookie of its first sign-in', async () => {
    const { email } = await newcomer('later');
    let cookie = '';
    const answers = await times(6, async () => {
      const answer = await tryIn(email, { cookie, password: PASSWORD });
      cookie = deviceOf(answer) || cookie;
      return answer;
    });
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('gain nothing from the device cookie of another user, or a forged one', async () => {
    const mine = await newcomer('mallory');
    const { email } = await newcomer('victim');
    await times(5, () => tryIn(email));
    const forged = `device=${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`;
    for (const cookie of [mine.device, forged, 'device=x', `${mine.device}x`]) {
      expect((await tryIn(email, { cookie })).status).toBe(429);
    }
    expect((await server.call('GET /auths', { token: mine.device.slice('device='.length) })).status).toBe(
      401,
    );
  });
});

describe('a network address', () => {
  it('may fail thirty sign-ins in three minutes for any accounts; other addresses are not affected', async () => {
    const ip = anywhere();
    const { email } = await newcomer('office');
    const answers = await times(31, (i) => tryIn(`guess${i}@example.com`, { ip }));
    expect(statuses(answers)).toEqual([...Array(30).fill(400), 429]);
    expect((await tryIn(email, { ip, password: PASSWORD })).status).toBe(429);
    expect((await tryIn(email, { password: PASSWORD })).status).toBe(200);
  });

  it('does not count successful sign-ins', async () => {
    const ip = anywhere();
    const people = await times(8, (i) => newcomer(`colleague${i}`));
    for (const { email } of people) {
      expect(statuses(await times(5, () => tryIn(email, { ip, password: PASSWORD })))).toEqual(
        Array(5).fill(200),
      );
    }
  });

  it('is the /64 prefix of an IPv6 address, and an IPv4 address in either form', async () => {
    await times(30, (i) => tryIn(`six${i}@example.com`, { ip: `2001:db8:1:2::${i + 1}` }));
    expect((await tryIn('six@example.com', { ip: '2001:db8:1:2:ffff::1' })).status).toBe(429);
    expect((await tryIn('six@example.com', { ip: '2001:db8:1:3::1' })).status).toBe(400);
    await times(30, (i) => tryIn(`four${i}@example.com`, { ip: i % 2 ? '192.0.2.7' : '::ffff:192.0.2.7' }));
    expect((await tryIn('four@example.com', { ip: '192.0.2.7' })).status).toBe(429);
  });

  it('cannot be chosen by the caller', async () => {
    const own = anywhere();
    const forwarded = (i: number) => `203.0.113.${i}, ${own}, 10.1.2.3, 2001:db8:ffff::1`;
    const answers = await times(31, (i) => tryIn(`spoof${i}@example.com`, { ip: forwarded(i) }));
    expect(answers.at(-1)?.status).toBe(429);
    const [entry] = await server.database.query<{ ip: string }>(
      `select ip from audit_entry where after ->> 'email' = 'spoof7@example.com'`,
    );
    expect(entry?.ip).toBe(own);
  });

  it.each([
    ['nothing', '', '127.0.0.1'],
    ['no address', 'unknown', '127.0.0.1'],
    ['a host name', 'evil.example', '127.0.0.1'],
    ['a number', '1', '127.0.0.1'],
    ['an address with a port', '203.0.113.9:443', '203.0.113.9'],
    ['an IPv6 address with a port', '[2001:db8::9]:443', '2001:db8::9'],
    ['something behind an address that is none', '203.0.113.9, _hidden', '127.0.0.1'],
    ['proxies alone', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
  ])('is the last known one when the header has %s', async (what, header, ip) => {
    const email = `${what.replaceAll(' ', '-').toLowerCase()}@example.com`;
    await tryIn(email, { ip: header });
    const [entry] = await server.database.query<{ ip: string }>(
      `select ip from audit_entry where after ->> 'email' = $1`,
      [email],
    );
    expect(entry?.ip).toBe(ip);
  });

  it('may create sixty accounts an hour', async () => {
    const ip = anywhere();
    const make = (i: number) =>
      server.call('POST /auths/signup', {
        headers: { ...PROXY.headers, 'x-forwarded-for': ip },
        body: { email: 'not an address', name: `Bot ${i}`, password: 'x' },
      });
    const answers = await times(61, make);
    expect(new Set(statuses(answers.slice(0, 60)))).toEqual(new Set([400]));
    expect(answers.at(-1)?.status).toBe(429);
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(180);
  });
});

it('limits.failed_signins, limits.signups_per_hour and limits.password_changes apply at once', async () => {
  const other = await startServer({ env: BEHIND });
  const root = await signUp(other, 'Root');
  const admin = administer(other, root);
  await admin.configure(({ limits }) =>
    Object.assign(limits ?? {}, { failed_signins: 2, signups_per_hour: 1, password_changes: 1 }),
  );
  const ip = anywhere();
  const failed = await times(3, (i) => tryIn(`guess${i}@example.com`, { at: other, ip }));
  expect(statuses(failed)).toEqual([400, 400, 429]);
  const made = await times(2, (i) =>
    other.call('POST /auths/signup', {
      headers: { ...PROXY.headers, 'x-forwarded-for': ip },
      body: { email: `made${i}@example.com`, name: 'Made', password: PASSWORD },
    }),
  );
  expect(statuses(made)).toEqual([200, 429]);
  const body = { password: 'wrong', new_password: PASSWORD };
  const changes = await times(2, () => other.as(root)('POST /auths/update/password', body));
  expect(statuses(changes)).toEqual([400, 429]);
  await admin.configure(({ limits }) => Object.assign(limits ?? {}, { failed_signins: 0 }));
  expect((await tryIn('guess@example.com', { at: other, ip })).status).toBe(400);
  await other.close();
});

describe('an address of this machine', () => {
  it('is trusted as a proxy only with the secret, since tools have this address too', async () => {
    const forged = (i: number) =>
      server.call('POST /auths/signin', {
        headers: {
          'x-forwarded-for': anywhere(),
          'x-proxy-secret': i % 2 ? PROXY.env.PROXY_SECRET.slice(1) : '',
        },
        body: { email: `forged${i}@example.com`, password: 'wrong' },
      });
    const answers = await times(31, forged);
    expect(statuses(answers).at(-1)).toBe(429);
    const ips = await server.database.query(
      `select distinct ip from audit_entry where after ->> 'email' like 'forged%'`,
    );
    expect(ips).toEqual([{ ip: '127.0.0.1' }]);
  });

  it('is no client address when a proxy names it, since a tool may call the proxy', async () => {
    const claims = (i: number) => tryIn(`claims${i}@example.com`, { ip: `${anywhere()}, 127.0.0.1` });
    expect((await claims(0)).status).toBe(429);
  });

  it('stops the start when it is trusted without a secret', async () => {
    for (const TRUSTED_PROXIES of ['127.0.0.1', '10.0.0.0/8, ::1', '127.0.0.0/8'])
      await expect(startServer({ env: { TRUSTED_PROXIES } })).rejects.toThrow('Set PROXY_SECRET');
  });
});

describe('without trusted proxies', () => {
  it('the header is ignored, and calls from this machine are not limited', async () => {
    const plain = await startServer();
    const answers = await times(35, (i) => tryIn(`guess${i}@example.com`, { at: plain }));
    expect(new Set(statuses(answers))).toEqual(new Set([400]));
    const ips = await plain.database.query('select distinct ip from audit_entry');
    expect(ips).toEqual([{ ip: '127.0.0.1' }]);
    await plain.close();
  });

  it.each(['10.0.0.0/33', 'proxy.example', '10.0.0'])('the start refuses %s', async (proxies) => {
    await expect(startServer({ env: { TRUSTED_PROXIES: proxies } })).rejects.toThrow(
      'TRUSTED_PROXIES is wrong',
    );
  });
});

describe.skipIf(withoutRedis)('two processes', () => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await startPair({ env: BEHIND });
  });
  afterAll(() => pair.close());
  const at = (i: number) => (i % 2 ? pair.there : pair.here);

  /** Twenty at a time: all at once could delay the answers of Redis until the servers count by themselves. */
  async function crowd(count: number, work: (i: number) => Promise<Answer>): Promise<Answer[]> {
    const answers: Answer[] = [];
    while (answers.length < count) {
      const begun = answers.length;
      answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, i) => work(begun + i)))));
    }
    return answers;
  }

  it('count together: of a hundred attempts, many at once, five are checked', async () => {
    const { email } = await newcomer('shared', pair.here);
    const answers = await crowd(100, (i) => tryIn(email, { at: at(i) }));
    expect(statuses(answers).filter((status) => status === 400)).toHaveLength(5);
    expect(statuses(answers).filter((status) => status === 429)).toHaveLength(95);
  });

  it('count a network address together', async () => {
    const ip = anywhere();
    const answers = await crowd(60, (i) => tryIn(`all${i}@example.com`, { ip, at: at(i) }));
    expect(statuses(answers).filter((status) => status === 400)).toHaveLength(30);
  });
});
