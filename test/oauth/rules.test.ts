import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Configuration } from '../../src/configs/settings/configs.schema.ts';
import { administer } from '../configs/support.ts';
import { egressToHere, startTarget } from '../egress/targets.ts';
import { until } from '../support/poll.ts';
import { type Person, signUp, startServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';
import { PNG } from '../webhooks/pictures.ts';
import { openBrowser } from './browser.ts';
import { startProvider } from './provider.ts';
import { claimsOf, entryOf, loginOf, pageOf, setStage } from './stage.ts';

// A server's pinned settings cannot be changed, so this one reads all from the configuration.
const stage = setStage({ ENABLE_OAUTH_SIGNUP: '' }, egressToHere());
let owner: Person;

const whoIs = async (token: string | undefined) => (await stage.server.call('GET /auths', { token })).body;
const configure = (change: Partial<Configuration['oauth']>) =>
  administer(stage.server, owner).configure(({ oauth }) => {
    Object.assign(oauth, { enable_signup: true, ...change });
  });

beforeAll(async () => {
  owner = await signUp(stage.server, 'Owner');
});
beforeEach(() => configure({}));

describe('an account for a user of a provider', () => {
  it('is not created when oauth.enable_signup is off', async () => {
    const old = await stage.enter('old', claimsOf('Old'));
    expect(old.error).toBeNull();
    await configure({ enable_signup: false });
    expect((await stage.enter('new', claimsOf('New'))).error).toMatch(/Sign-up is switched off/);
    expect((await stage.enter('old', claimsOf('Old'))).error).toBeNull();
  });

  it('requires a verified address of oauth.allowed_domains when it is set', async () => {
    await configure({ allowed_domains: ['Corp.example'] });
    const at = (email: string, email_verified: boolean | undefined) => ({ name: 'D', email, email_verified });
    const refusals: [string, ReturnType<typeof at>][] = [
      ['d1', at('d@example.com', true)],
      ['d2', at('d@evil-corp.example', true)],
      ['d3', at('d@corp.example.evil.example', true)],
      ['d4', at('corp.example@evil.example', true)],
    ];
    for (const [subject, claims] of refusals) {
      expect((await stage.enter(subject, claims)).error).toMatch(/that domain may not/);
    }
    expect((await stage.enter('d5', at('d@corp.example', false))).error).toMatch(/has not verified/);
    expect((await stage.enter('d6', at('d@corp.example', undefined))).error).toMatch(/has not verified/);
    expect((await stage.enter('d7', at('d@CORP.example', true))).error).toBeNull();
  });

  it('is found by a verified address with oauth.merge_accounts_by_email, and not by an unverified one', async () => {
    const eve = await signUp(stage.server, 'Eve');
    await configure({ merge_accounts_by_email: true });
    for (const email_verified of [false, undefined, 'true']) {
      const entry = await stage.enter('eve-elsewhere', claimsOf('Eve', { email_verified }));
      expect(entry.error).toMatch(/already has an account/);
    }
    const entry = await stage.enter('eve', claimsOf('Eve', { email: 'EVE@example.com' }));
    expect(await whoIs(entry.token)).toMatchObject({ id: eve.id });
    // From now on the user is known by the subject, with any address.
    await configure({});
    const later = await stage.enter('eve', claimsOf('Other'));
    expect(await whoIs(later.token)).toMatchObject({ id: eve.id, name: 'Eve', email: 'eve@example.com' });
  });
});

describe('a claim of a provider', () => {
  it('sets the role with oauth.enable_role_mapping, and ends the sessions of the old role', async () => {
    const first = await stage.enter('rolf', claimsOf('Rolf', { roles: ['admin'] }));
    expect((await whoIs(first.token)).role).toBe('pending');
    await configure({ enable_role_mapping: true });
    const roleWith = async (roles: unknown) =>
      (await whoIs((await stage.enter('rolf', claimsOf('Rolf', { roles }))).token)).role;
    expect(await roleWith(['staff', 'admin'])).toBe('admin');
    const { status } = await stage.server.call('GET /auths', { token: first.token });
    expect(status).toBe(401);
    expect(await roleWith(undefined)).toBe('admin');
    expect(await roleWith('user')).toBe('user');
    expect(await roleWith([])).toBe('pending');
    expect(await roleWith({ admin: true })).toBe('pending');
  });

  it('demotes the user on open sockets too', async () => {
    await configure({ enable_role_mapping: true });
    const enter = (roles: string) => stage.enter('dora', claimsOf('Dora', { roles }));
    const { token } = await enter('admin');
    const { url } = stage.server;
    const sockets = [await listenBySocketIo(url, token), await listenByTrpc(url, token)];
    expect(sockets.map(({ ended }) => ended)).toEqual([undefined, undefined]);
    await enter('user');
    await until('both to end', () => sockets.every(({ ended }) => ended !== undefined));
    for (const socket of sockets) socket.close();
    const again = [await listenBySocketIo(url, token), await listenByTrpc(url, token)];
    expect(again.map(({ ended }) => ended)).toEqual(['unauthenticated', 'unauthenticated']);
    for (const socket of again) socket.close();
  });

  it('never demotes the oldest administrator', async () => {
    await configure({ enable_role_mapping: true, merge_accounts_by_email: true });
    const entry = await stage.enter('owner', claimsOf('Owner', { roles: ['user'] }));
    expect(await whoIs(entry.token)).toMatchObject({ id: owner.id, role: 'admin' });
    expect((await stage.server.call('GET /auths', { token: owner.token })).status).toBe(200);
  });

  it('replaces name and verified address as oauth.update_name_on_login and oauth.update_email_on_login say', async () => {
    const { id } = await whoIs((await stage.enter('uma', claimsOf('Uma'))).token);
    await configure({ update_name_on_login: true, update_email_on_login: true });
    const enter = async (claims: Record<string, unknown>) =>
      whoIs((await stage.enter('uma', { ...claimsOf('Uma'), ...claims })).token);
    expect(await enter({ name: 'Uma\r\nX: y', email: 'Uma2@example.com' })).toMatchObject({
      id,
      name: 'Uma X: y',
      email: 'uma2@example.com',
    });
    expect(await enter({ email: 'uma3@example.com', email_verified: false })).toMatchObject({
      email: 'uma2@example.com',
    });
    expect(await enter({ email: owner.email })).toMatchObject({ id, name: 'Uma', email: 'uma2@example.com' });
  });

  it('sets groups with oauth.enable_group_mapping, and creates groups with oauth.enable_group_creation', async () => {
    const { id } = await whoIs((await stage.enter('gil', claimsOf('Gil', { groups: ['Staff'] }))).token);
    const { token } = owner;
    for (const name of ['Kept', 'Staff']) {
      const { body } = await stage.server.call('POST /groups/create', {
        token,
        body: { name, description: '' },
      });
      if (name === 'Kept') {
        await stage.server.call(`POST /groups/id/${body.id}/users/add`, { token, body: { user_ids: [id] } });
      }
    }
    const groupsWith = async (groups: unknown) => {
      expect((await stage.enter('gil', claimsOf('Gil', { groups }))).error).toBeNull();
      const rows = await stage.server.database.query<{ name: string }>(
        'select g.name from group_member m join user_group g on g.id = m.group_id where m.user_id = $1 order by 1',
        [id],
      );
      return rows.map(({ name }) => name);
    };
    expect(await groupsWith(['Staff'])).toEqual(['Kept']);
    await configure({ enable_group_mapping: true });
    expect(await groupsWith(['Staff', 'New', 'kept'])).toEqual(['Kept', 'Staff']);
    await configure({ enable_group_mapping: true, enable_group_creation: true });
    expect(await groupsWith(['Staff', 'New'])).toEqual(['Kept', 'New', 'Staff']);
    // A missing claim does not mean "no groups".
    expect(await groupsWith(undefined)).toEqual(['Kept', 'New', 'Staff']);
    expect(await groupsWith('New')).toEqual(['Kept', 'New']);
    expect(await groupsWith([])).toEqual(['Kept']);
  });

  it('sets the picture with oauth.update_picture_on_login, if it is one', async () => {
    const png = Buffer.from(PNG.split(',')[1] ?? '', 'base64');
    const target = await startTarget(({ url }, response) => {
      if (url === '/inside') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
      else response.end(url === '/png' ? png : '<svg xmlns="http://www.w3.org/2000/svg"/>');
    });
    try {
      await configure({ update_picture_on_login: true });
      const pictureWith = async (picture: string) =>
        (await whoIs((await stage.enter('pia', claimsOf('Pia', { picture }))).token)).profile_image_url;
      const own = await pictureWith('');
      expect(own).toMatch(/^\/api\/v1\/users\/[0-9a-f-]{36}\/profile\/image$/);
      const svg = 'data:image/svg+xml;base64,PHN2Zy8+';
      const refused = [
        `${target.url}/svg`,
        `${target.url}/inside`,
        svg,
        'http://10.0.0.1/x',
        'file:///etc/passwd',
      ];
      for (const address of refused) expect(await pictureWith(address)).toBe(own);
      expect(await pictureWith(`${target.url}/png`)).toBe(PNG);
      expect(target.heard.map(({ url }) => url)).toEqual(['/svg', '/inside', '/png']);
      // The token goes only to addresses of the provider: pictures of Microsoft require it; other hosts never
      // get it.
      expect(target.heard.map(({ headers }) => headers.authorization)).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(await pictureWith(`${stage.provider.issuer}/photo`)).toBe(PNG);
      expect(await pictureWith(`${stage.provider.issuer}/photo?to=${target.url}/secret`)).toBe(PNG);
      expect(target.heard.at(-1)).toMatchObject({ url: '/secret' });
      expect(target.heard.at(-1)?.headers.authorization).toBeUndefined();
    } finally {
      await target.close();
    }
  });

  it('keeps the changes that an administrator makes during the request to the provider', async () => {
    await configure({ update_picture_on_login: true });
    const { id } = await whoIs((await stage.enter('ria', claimsOf('Ria'))).token);
    const change = (body: object) =>
      stage.server.call(`POST /users/${id}/update`, { token: owner.token, body });
    expect((await change({ role: 'admin' })).body.role).toBe('admin');
    const target = await startTarget(async (_request, response) => {
      await change({ role: 'user', name: 'Ria Renamed' });
      response.end(Buffer.from(PNG.split(',')[1] ?? '', 'base64'));
    });
    try {
      const { token } = await stage.enter('ria', claimsOf('Ria', { picture: `${target.url}/png` }));
      expect(await whoIs(token)).toMatchObject({
        id,
        role: 'user',
        name: 'Ria Renamed',
        profile_image_url: PNG,
      });
    } finally {
      await target.close();
    }
  });
});

it('a sign-in whose account is deleted during the request to the provider is refused', async () => {
  await configure({ update_picture_on_login: true });
  const { id } = await whoIs((await stage.enter('tom', claimsOf('Tom'))).token);
  const target = await startTarget(async (_request, response) => {
    await stage.server.call(`DELETE /users/${id}`, { token: owner.token });
    response.end(Buffer.from(PNG.split(',')[1] ?? '', 'base64'));
  });
  try {
    const entry = await stage.enter('tom', claimsOf('Tom', { picture: `${target.url}/png` }));
    expect([entry.token, entry.error]).toEqual([undefined, 'The account was deleted just now.']);
  } finally {
    await target.close();
  }
});

describe('the first account of a server', () => {
  it('is one administrator among 50 people who sign in at once', async () => {
    const provider = await startProvider();
    const server = await startServer({ env: { ...provider.env, ENABLE_OAUTH_SIGNUP: 'true' } });
    try {
      const there = { ...stage, provider, server };
      const waiting = [];
      for (let number = 0; number < 50; number += 1) {
        const browser = openBrowser();
        provider.signsIn(`p${number}`, claimsOf(`P${number}`));
        const { url } = await browser.visit(loginOf(there), /\/callback\?/);
        waiting.push({ browser, url });
      }
      const entries = await Promise.all(
        waiting.map(async ({ browser, url }) =>
          entryOf(there, browser, await browser.visit(url, pageOf(there))),
        ),
      );
      expect(entries.map(({ error }) => error)).toEqual(Array(50).fill(null));
      const roles = await server.database.query(
        'select role, count(*)::int from users group by role order by role',
      );
      expect(roles).toEqual([
        { role: 'admin', count: 1 },
        { role: 'pending', count: 49 },
      ]);
    } finally {
      await server.close();
      await provider.close();
    }
  });
});

describe('an address in a custom claim', () => {
  it.each([
    ['', /has not verified/],
    ['oidc', null],
  ])(
    'counts as verified only for a provider of OAUTH_TRUSTED_EMAIL_PROVIDERS=%s',
    async (trusted, expected) => {
      const server = await startServer({
        env: {
          ...stage.provider.env,
          ENABLE_OAUTH_SIGNUP: 'true',
          OAUTH_EMAIL_CLAIM: 'contact.mail',
          OAUTH_ALLOWED_DOMAINS: 'corp.example',
          OAUTH_TRUSTED_EMAIL_PROVIDERS: trusted,
        },
      });
      try {
        const there = { ...stage, server };
        // The provider verified the other address.
        stage.provider.signsIn('cleo', claimsOf('Cleo', { contact: { mail: 'cleo@corp.example' } }));
        const browser = openBrowser();
        const entry = entryOf(there, browser, await browser.visit(loginOf(there), pageOf(there)));
        if (expected) expect(entry.error).toMatch(expected);
        const { body } = await server.call('GET /auths', { token: entry.token });
        expect(body.email).toBe(expected ? undefined : 'cleo@corp.example');
      } finally {
        await server.close();
      }
    },
  );
});

describe('an unreachable provider', () => {
  it('is reported at once, without a request for each sign-in; the rest of the server works', async () => {
    const away = await startTarget((_request, response) => response.writeHead(503).end());
    const issuer = `http://127.0.0.1:${away.port}`;
    const server = await startServer({ env: { OPENID_PROVIDER_URL: issuer, OAUTH_CLIENT_ID: 'parley' } });
    try {
      const there = { ...stage, server };
      const visit = async () =>
        entryOf(there, openBrowser(), await openBrowser().visit(loginOf(there), pageOf(there)));
      // The other sign-ins fail at once, since the failed request is remembered for seconds.
      const visits = [await visit(), ...(await Promise.all([visit(), visit(), visit(), visit()]))];
      expect(new Set(visits.map(({ error }) => error))).toEqual(
        new Set(['The provider does not answer. Try again in a moment.']),
      );
      expect(away.heard).toHaveLength(1);
      expect((await fetch(loginOf(there), { redirect: 'manual' })).status).toBe(502);
      expect((await signUp(server, 'Ann')).id).toBeDefined();
    } finally {
      await server.close();
      await away.close();
    }
  });
});
