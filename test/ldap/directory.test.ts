import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDirectory } from '../../src/auth/ldap/ldap.directory.ts';
import { readEnv, StartError } from '../../src/env.ts';
import { type Person, signUp, startServer, type TestServer } from '../support/server.ts';
import { BASE, dnOf, PASSWORD, type Slapd, startSlapd, withoutSlapd } from './slapd.ts';

describe.skipIf(withoutSlapd)('a directory (needs slapd)', () => {
  let slapd: Slapd;
  const servers: TestServer[] = [];

  /** Starts a server with this directory, and signs up its administrator. */
  async function start(env: Record<string, string> = {}) {
    const server = await startServer({ env: { ...slapd.env, ...env } });
    servers.push(server);
    const owner = await signUp(server, 'Owner');
    return {
      server,
      owner,
      enter: (user: string, password = PASSWORD) =>
        server.call('POST /auths/ldap', { body: { user, password } }),
      test: (user: string, person: Person | null = owner) =>
        server.call('POST /auths/ldap/test', { token: person?.token, body: { user } }),
    };
  }

  beforeAll(async () => {
    slapd = await startSlapd();
    await slapd.add('ann');
    await slapd.add('bare', { mail: 'no address' });
    await slapd.add('owner');
    for (const number of [1, 2, 3])
      await slapd.add(`double${number}`, { uid: [`double${number}`, 'double'] });
    await slapd.group('Staff', ['ann']);
    await slapd.group('Sales\\, North', ['ann']);
  });
  // The database has a limited number of connections, so servers are closed after each test.
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });
  afterAll(() => slapd.stop());

  it.each([
    ['TLS', () => ({ LDAP_USE_TLS: 'true', LDAP_SERVER_PORT: `${slapd.tlsPort}` })],
    ['StartTLS', () => ({ LDAP_START_TLS: 'true' })],
  ])('is reached by %s with a checked certificate, by name and by address', async (_how, encrypted) => {
    const open = async (env: Record<string, string>) => {
      const directory = await createDirectory(readEnv({ ...slapd.env, ...encrypted(), ...env }));
      const client = await directory?.open();
      if (client) await directory?.close(client);
    };
    const trusted = { LDAP_CA_CERT_FILE: slapd.authority };
    await open(trusted);
    await open({ ...trusted, LDAP_SERVER_HOST: 'localhost' });
    await open({ LDAP_VALIDATE_CERT: 'false' });
    for (const LDAP_CA_CERT_FILE of ['', slapd.otherAuthority])
      await expect(open({ LDAP_CA_CERT_FILE })).rejects.toThrow(/certificate|signature/i);

    const trusting = await start({ ...encrypted(), ...trusted });
    expect((await trusting.enter('ann')).status).toBe(200);
  });

  it('without a trusted certificate is refused at the doors', async () => {
    const strict = await start({ LDAP_START_TLS: 'true' });
    expect(await strict.enter('ann')).toMatchObject({ status: 502, body: { code: 'upstream_failed' } });
    const { body } = await strict.test('ann');
    expect(body).toMatchObject({ ok: false, steps: [{ step: 'connect', ok: false }] });
    expect(body.steps[0].detail).toMatch(/certificate|signature/i);
  });

  it('can be tested by administrators only, who see each step', async () => {
    const { server, owner, test, enter } = await start();
    expect((await test('ann', null)).status).toBe(401);
    const { body: ann } = await enter('ann');
    await server.call(`POST /users/${ann.id}/update`, { token: owner.token, body: { role: 'user' } });
    const member = { ...owner, token: (await enter('ann')).body.token };
    expect((await test('ann', member)).status).toBe(403);

    const { body } = await test('ann');
    expect(body).toMatchObject({ ok: true, dn: dnOf('ann'), filter: '(uid=ann)' });
    expect(body.steps.map(({ step }: { step: string }) => step)).toEqual([
      ...['connect', 'search', 'entry', 'address', 'groups', 'role', 'account'],
    ]);
    expect(JSON.stringify(body.steps)).toMatch(
      /ann@example\.com.*Sales, North.*ENABLE_LDAP_ROLE_MANAGEMENT is off.*with the role user/,
    );
    expect(JSON.stringify(body)).not.toContain(slapd.env.LDAP_APP_PASSWORD);
  });

  it('reports the step that fails', async () => {
    const { test } = await start();
    for (const [user, step, detail] of [
      ['nobody', 'search', /finds no entry/],
      ['double', 'search', /more than one|code 4/],
      ['bare', 'address', /No usable address in mail: no address/],
      ['owner', 'account', /Another account has their address/],
      ['*)(uid=*', 'search', /finds no entry/],
    ] as const) {
      const { body } = await test(user);
      expect([user, body.ok]).toEqual([user, false]);
      const failed = body.steps.filter(({ ok }: { ok: boolean }) => !ok);
      expect(failed).toEqual([{ step, ok: false, detail: expect.stringMatching(detail) }]);
    }
  });

  it('admits only people whom the filter of the environment finds', async () => {
    const { enter, test } = await start({
      LDAP_SEARCH_FILTER: '(memberOf=cn=Staff,ou=groups,dc=example,dc=com)',
    });
    expect((await enter('ann')).status).toBe(200);
    expect((await enter('bare')).body.code).toBe('credentials_wrong');
    expect((await test('ann')).body.filter).toBe(
      '(&(uid=ann)(memberOf=cn=Staff,ou=groups,dc=example,dc=com))',
    );
  });

  it('adds and removes people of its groups, and keeps memberships that were set by hand', async () => {
    const { server, owner, enter } = await start({
      ENABLE_LDAP_GROUP_MANAGEMENT: 'true',
      ENABLE_LDAP_GROUP_CREATION: 'true',
    });
    const { token } = owner;
    const { body: kept } = await server.call('POST /groups/create', {
      token,
      body: { name: 'Kept', description: '' },
    });
    const { body: ann } = await enter('ann');
    await server.call(`POST /groups/id/${kept.id}/users/add`, { token, body: { user_ids: [ann.id] } });
    const groups = async () => {
      const rows = await server.database.query<{ name: string; source: string }>(
        `select g.name, m.source from group_member m join user_group g on g.id = m.group_id
          where m.user_id = $1 order by g.name`,
        [ann.id],
      );
      return rows.map(({ name, source }) => `${name}: ${source}`);
    };
    expect(await groups()).toEqual(['Kept: manual', 'Sales, North: ldap', 'Staff: ldap']);

    await slapd.asRoot((client) => client.del(`cn=Staff,ou=groups,${BASE}`));
    await enter('ann');
    expect(await groups()).toEqual(['Kept: manual', 'Sales, North: ldap']);
    await slapd.group('Staff', ['ann']);
    await enter('ann');
    expect(await groups()).toEqual(['Kept: manual', 'Sales, North: ldap', 'Staff: ldap']);
  });

  it('that does not answer, or refuses the search account, is reported without a long wait', async () => {
    const { enter, test, server, owner } = await start();
    await slapd.hang();
    try {
      expect(await enter('ann')).toMatchObject({ status: 502, body: { code: 'upstream_failed' } });
      expect((await server.call('GET /auths', { token: owner.token })).status).toBe(200);
    } finally {
      slapd.resume();
    }
    expect((await test('ann')).body.ok).toBe(true);

    const refused = await start({ LDAP_APP_PASSWORD: 'wrong' });
    expect((await refused.enter('ann')).status).toBe(502);
    expect((await refused.test('ann')).body.steps).toEqual([
      { step: 'connect', ok: false, detail: expect.stringMatching(/code 49/) },
    ]);
    const nowhere = await start({ LDAP_SERVER_PORT: '1' });
    expect((await nowhere.enter('ann')).status).toBe(502);
  });
});

describe('the environment of a directory', () => {
  const env = { ENABLE_LDAP: 'true', LDAP_SEARCH_BASE: BASE };
  it.each([
    [{ ENABLE_LDAP: 'true' }, /LDAP_SEARCH_BASE/],
    [{ ...env, LDAP_APP_DN: 'cn=a' }, /LDAP_APP_PASSWORD/],
    [{ ...env, LDAP_APP_DN: 'cn=a', LDAP_APP_PASSWORD: ' ' }, /LDAP_APP_PASSWORD/],
    [{ ...env, LDAP_SEARCH_FILTER: '(a=b' }, /LDAP_SEARCH_FILTER/],
    [{ ...env, LDAP_CA_CERT_FILE: '/nowhere.pem' }, /LDAP_CA_CERT_FILE/],
    [{ ...env, LDAP_USE_TLS: 'perhaps' }, /LDAP_USE_TLS/],
  ])('stops the start when it is invalid: %o', async (wrong, named) => {
    const start = async () => createDirectory(readEnv(wrong));
    await expect(start()).rejects.toThrow(StartError);
    await expect(start()).rejects.toThrow(named);
  });
});
