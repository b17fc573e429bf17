import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { openDoors } from '../support/doors.ts';
import { PROXY, signUp, startServer, type TestServer } from '../support/server.ts';
import { dnOf, PASSWORD, type Slapd, startSlapd, withoutSlapd } from './slapd.ts';

describe.skipIf(withoutSlapd)('a sign-in through a directory (needs slapd)', () => {
  let slapd: Slapd;
  let server: TestServer;
  const enter = (user: unknown, password: unknown = PASSWORD, at = server) =>
    at.call('POST /auths/ldap', { body: { user, password } });

  beforeAll(async () => {
    slapd = await startSlapd();
    server = await startServer({ env: slapd.env });
    await signUp(server, 'Owner');
  });
  afterAll(async () => {
    await server.close();
    await slapd.stop();
  });

  it('creates an account with the configured role, and finds it again under another address', async () => {
    await slapd.add('ann', {
      cn: 'Ann Example',
      mail: ['not an address', 'Ann@Example.com', 'alias@example.com'],
    });
    const first = await enter('ann');
    expect(first).toMatchObject({
      status: 200,
      body: { email: 'ann@example.com', name: 'Ann Example', role: 'pending', token_type: 'Bearer' },
    });
    expect(first.headers.get('set-cookie')).toMatch(/token=.*HttpOnly/);
    await slapd.asRoot(async (client) => {
      await client.modifyDN(dnOf('ann'), 'uid=ann2');
    });
    const again = await enter('ann2');
    expect(again.body.id).toBe(first.body.id);
    expect((await server.call('GET /auths', { token: again.body.token })).status).toBe(200);
  });

  it('finds people by any of their names', async () => {
    await slapd.add('many', { uid: ['many', 'several'] });
    expect((await enter('several')).body.id).toBe((await enter('many')).body.id);
  });

  it('is refused without a password, although the directory accepts a bind without one', async () => {
    await slapd.add('empty');
    for (const password of ['', '\0', 'right password\0']) {
      expect(await enter('empty', password)).toMatchObject({ status: 400, body: { code: 'validation' } });
    }
    for (const password of [' ', '\t\n', '\u00a0']) {
      expect(await enter('empty', password)).toMatchObject({
        status: 400,
        body: { code: 'credentials_wrong' },
      });
    }
    const users = await server.database.query("select 1 from users where email = 'empty@example.com'");
    expect(users).toEqual([]);
  });

  it('answers the same for an unknown name and a wrong password, and allows five attempts', async () => {
    await slapd.add('limited', { uid: ['limited', 'other name'] });
    const wrong = await enter('limited', 'wrong');
    const unknown = await enter('nobody', 'wrong');
    expect(wrong).toMatchObject({ status: 400, body: { code: 'credentials_wrong' } });
    expect(unknown.body).toEqual(wrong.body);
    for (const spelling of ['LIMITED', ' limited ', 'other  name', 'Limited']) {
      expect((await enter(spelling, 'wrong')).body).toEqual(wrong.body);
    }
    const refused = await enter('limited');
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('creates one account for concurrent first sign-ins of one person', async () => {
    await slapd.add('multi');
    const answers = await Promise.all(Array.from({ length: 5 }, () => enter('multi')));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it('allows thirty failures from a network address for any names, and then the directory gets no more searches', async () => {
    const behind = await startServer({ env: { ...slapd.env, ...PROXY.env } });
    try {
      const guess = (number: number) =>
        behind.call('POST /auths/ldap', {
          headers: { ...PROXY.headers, 'x-forwarded-for': '198.51.100.7' },
          body: { user: `guess${number}`, password: 'x' },
        });
      const answers = [];
      for (let number = 0; number < 30; number += 1) answers.push(await guess(number));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
      await slapd.hang();
      expect((await guess(30)).status).toBe(429);
    } finally {
      slapd.resume();
      await behind.close();
    }
  });

  it('escapes names: filters and wildcards find no one', async () => {
    await slapd.add('star');
    for (const name of ['*', 'st*', 'star)(uid=*', '*)(objectClass=*', 'star\\2a', ')(', '\\', 'uid=star']) {
      expect(await enter(name)).toMatchObject({ status: 400, body: { code: 'credentials_wrong' } });
    }
    await slapd.add('we*rd(1)');
    expect((await enter('we*rd(1)')).status).toBe(200);
  });

  it('is refused when the name matches several people', async () => {
    await slapd.add('twin1', { uid: ['twin1', 'twin'] });
    await slapd.add('twin2', { uid: ['twin2', 'twin'] });
    expect(await enter('twin')).toMatchObject({ status: 400, body: { code: 'credentials_wrong' } });
  });

  it('does not take over an address with an account, unless LDAP_MERGE_ACCOUNTS_BY_EMAIL allows it', async () => {
    await slapd.add('owner');
    expect(await enter('owner')).toMatchObject({ status: 400, body: { code: 'email_taken' } });
    const other = await startServer({ env: { ...slapd.env, LDAP_MERGE_ACCOUNTS_BY_EMAIL: 'true' } });
    try {
      const { id } = await signUp(other, 'Owner');
      expect(await enter('owner', PASSWORD, other)).toMatchObject({
        status: 200,
        body: { id, role: 'admin' },
      });
    } finally {
      await other.close();
    }
  });

  it.each([
    [{}],
    [{ user: 'ann' }],
    [{ user: '', password: 'x' }],
    [{ user: 'x'.repeat(257), password: 'x' }],
    [{ user: 'a\0b', password: 'x' }],
    [{ user: { $ne: '' }, password: 'x' }],
    [{ user: 'ann', password: ['x'] }],
    [{ user: 'ann', password: 'x'.repeat(1025) }],
  ])('refuses %o', async (body) => {
    expect(await server.call('POST /auths/ldap', { body })).toMatchObject({
      status: 400,
      body: { code: 'validation' },
    });
  });

  it('is refused without a password at every door', async () => {
    const procedure = listProcedures(appRouter).find(({ path }) => path === 'ldap.signIn');
    const doors = openDoors(server.url);
    try {
      for (const [number, password] of ['', ' ', '\0', '\u2003\t'].entries()) {
        // Attempts count together for all doors.
        const user = `doors${number}`;
        await slapd.add(user);
        const outcomes = procedure ? await doors.try(procedure, { user, password }) : [];
        expect(outcomes.map(({ status }) => status)).toEqual([400, 400, 400]);
      }
    } finally {
      doors.close();
    }
    expect(await server.database.query("select from users where email like 'doors%'")).toEqual([]);
  });

  it('creates exactly one administrator among 50 concurrent first accounts, half of them with local passwords', async () => {
    const other = await startServer({ env: slapd.env });
    try {
      const names = Array.from({ length: 50 }, (_, number) => `first${number}`);
      for (const name of names) await slapd.add(name);
      const answers = await Promise.all(
        names.map((name, number) => {
          if (number % 2 === 0) return enter(name, PASSWORD, other);
          const body = { email: `${name}@elsewhere.example`, name, password: PASSWORD };
          return other.call('POST /auths/signup', { body });
        }),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
      const roles = await other.database.query(
        'select role, count(*)::int from users group by role order by role',
      );
      expect(roles).toEqual([
        { role: 'admin', count: 1 },
        { role: 'pending', count: 49 },
      ]);
    } finally {
      await other.close();
    }
  });

  it('is off without ENABLE_LDAP', async () => {
    const other = await startServer();
    try {
      expect(await enter('ann', PASSWORD, other)).toMatchObject({
        status: 403,
        body: { code: 'signin_disabled' },
      });
    } finally {
      await other.close();
    }
  });
});
