import { Attribute, Change } from 'ldapts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { type Person, signUp, startServer, type TestServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';
import { BASE, dnOf, PASSWORD, type Slapd, startSlapd, withoutSlapd } from './slapd.ts';

describe.skipIf(withoutSlapd)('a later change of a directory (needs slapd)', () => {
  let slapd: Slapd;
  let server: TestServer;
  let owner: Person;

  /** Starts a server, and adds a person to the directory who has not signed in here. */
  async function start(env: Record<string, string>) {
    server = await startServer({ env: { ...slapd.env, ...env } });
    owner = await signUp(server, 'Owner');
  }
  const enter = async (user: string) => {
    const { status, body } = await server.call('POST /auths/ldap', { body: { user, password: PASSWORD } });
    expect(status).toBe(200);
    return body;
  };
  const roleStep = async (user: string) => {
    const { body } = await server.call('POST /auths/ldap/test', { token: owner.token, body: { user } });
    return Object.fromEntries(
      body.steps.map(({ step, detail }: { step: string; detail: string }) => [step, detail]),
    );
  };
  const change = (dn: string, type: string, values: string[]) =>
    slapd.asRoot((client) =>
      client.modify(dn, new Change({ operation: 'replace', modification: new Attribute({ type, values }) })),
    );
  const groupOf = (name: string) => `cn=${name},ou=groups,${BASE}`;

  beforeAll(async () => {
    slapd = await startSlapd();
    for (const uid of ['ann', 'bob', 'cleo', 'owner']) await slapd.add(uid);
    await slapd.group('Keepers', ['ann']);
    await slapd.group('Staff', ['ann', 'bob']);
  });
  afterEach(() => server.close());
  afterAll(() => slapd.stop());

  it('of names and addresses is adopted where that is configured, and only there', async () => {
    const rename = async (name: string, mail: string) => {
      await change(dnOf('ann'), 'cn', [name]);
      await change(dnOf('ann'), 'mail', [mail]);
    };
    await start({});
    const { id } = await enter('ann');
    await rename('Ann Other', 'ann.other@example.com');
    expect(await enter('ann')).toMatchObject({ id, name: 'ann', email: 'ann@example.com' });
    await server.close();

    await start({ LDAP_UPDATE_NAME_ON_LOGIN: 'true', LDAP_UPDATE_EMAIL_ON_LOGIN: 'true' });
    const before = await enter('ann');
    await rename('Ann Third', 'Ann.Third@example.com');
    const after = await enter('ann');
    expect(after).toMatchObject({ id: before.id, name: 'Ann Third', email: 'ann.third@example.com' });
    // The existing session stays and shows the change.
    expect((await server.call('GET /auths', { token: before.token })).body.name).toBe('Ann Third');
    // An address of another account here is not adopted.
    await rename('Ann Fourth', 'owner@example.com');
    expect(await enter('ann')).toMatchObject({ name: 'Ann Fourth', email: 'ann.third@example.com' });
    await rename('ann', 'ann@example.com');
  });

  it('of groups decides roles: administrators, users, and pending accounts', async () => {
    await start({
      ENABLE_LDAP_ROLE_MANAGEMENT: 'true',
      LDAP_ADMIN_GROUPS: 'nobody; keepers',
      LDAP_ALLOWED_GROUPS: `CN=Staff, ou=Groups,${BASE};other`,
    });
    expect(await roleStep('ann')).toMatchObject({
      role: 'admin, by the group keepers.',
      account: 'A new account with the role admin.',
    });
    expect((await enter('ann')).role).toBe('admin');
    expect((await roleStep('bob')).role).toMatch(/^user, by the group CN=Staff/);
    expect((await enter('bob')).role).toBe('user');
    expect((await roleStep('cleo')).role).toMatch(/^pending: in no group of LDAP_ADMIN_GROUPS/);
    expect((await enter('cleo')).role).toBe('pending');
  });

  it('of groups demotes at the next sign-in, and closes what the old role had open at every door', async () => {
    await start({ ENABLE_LDAP_ROLE_MANAGEMENT: 'true', LDAP_ADMIN_GROUPS: groupOf('Keepers') });
    const old = await enter('ann');
    expect(old.role).toBe('admin');
    const sockets = [
      await listenBySocketIo(server.url, old.token),
      await listenByTrpc(server.url, old.token),
    ];
    // Groups of the same name at another place, one of them named like the path of the real group: neither
    // counts.
    const escaped = groupOf('Keepers').replaceAll(/[,=]/g, '\\$&');
    const others = ['Keepers', escaped].map((name) => `cn=${name},ou=guests,${BASE}`);
    await slapd.asRoot(async (client) => {
      await client.del(groupOf('Keepers'));
      await client.add(`ou=guests,${BASE}`, { objectClass: 'organizationalUnit', ou: 'guests' });
      for (const dn of others) await client.add(dn, { objectClass: 'groupOfNames', member: dnOf('ann') });
    });
    try {
      expect((await roleStep('ann')).account).toMatch(/^Their account ann@example\.com, with the role user/);
      const now = await enter('ann');
      // LDAP_ALLOWED_GROUPS is not set, so everyone whom the search finds is a user.
      expect(now.role).toBe('user');
      await until('both sockets to end', () => sockets.every(({ ended }) => ended !== undefined));
      expect((await server.call('GET /users', { token: old.token })).status).toBe(401);
      expect((await server.call('GET /users', { token: now.token })).status).toBe(403);
    } finally {
      for (const socket of sockets) socket.close();
      await slapd.asRoot(async (client) => {
        for (const dn of others) await client.del(dn);
      });
      await slapd.group('Keepers', ['ann']);
    }
  });

  it('never demotes the oldest administrator', async () => {
    await start({
      ENABLE_LDAP_ROLE_MANAGEMENT: 'true',
      LDAP_ALLOWED_GROUPS: 'nobody',
      LDAP_MERGE_ACCOUNTS_BY_EMAIL: 'true',
    });
    expect((await roleStep('owner')).account).toMatch(/admin, which the oldest administrator stays/);
    expect(await enter('owner')).toMatchObject({ id: owner.id, role: 'admin' });
    expect((await enter('ann')).role).toBe('pending');
  });
});
