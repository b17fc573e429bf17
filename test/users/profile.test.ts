import { afterAll, describe, expect, it } from 'vitest';
import { signUp, signUpAll, startServer } from '../support/server.ts';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann] = await signUpAll(server, 'Root', 'Ann');

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('the profile', () => {
  it('may be changed by its owner, and changes nothing else', async () => {
    const sent = { name: 'Ann', profile_image_url: PIXEL, bio: 'Paints', date_of_birth: '1999-12-31' };
    const extra = { role: 'admin', email: 'x@example.com', id: root.id, created_at: 1 };
    const { status, body } = await as(ann)('POST /auths/update/profile', { ...sent, ...extra });
    expect([status, body]).toMatchObject([
      200,
      { ...sent, id: ann.id, email: ann.email, role: 'user', gender: null },
    ]);
    expect((await as(ann)('GET /auths')).body).toMatchObject({ name: 'Ann', profile_image_url: PIXEL });
    const kept = await as(ann)('POST /auths/update/profile', {
      name: 'Ann',
      profile_image_url: PIXEL,
      bio: null,
    });
    expect(kept.body).toMatchObject({ bio: null, date_of_birth: '1999-12-31' });
  });

  it('may have an external picture, which other users neither fetch nor see', async () => {
    const address = 'https://pictures.example.com/ann.png';
    const sent = { name: 'Ann', profile_image_url: address };
    expect((await as(ann)('POST /auths/update/profile', sent)).body.profile_image_url).toBe(address);
    expect((await as(ann)('GET /auths')).body.profile_image_url).toBe(address);
    const path = `/api/v1/users/${ann.id}/profile/image`;
    expect((await as(root)(`GET /users/${ann.id}`)).body.profile_image_url).toBe(path);
    const { body } = await as(root)(`POST /users/${ann.id}/update`, { name: 'Ann' });
    expect(body.profile_image_url).toBe(path);
    const shown = await fetch(server.url + path, {
      headers: { authorization: `Bearer ${root.token}` },
      redirect: 'manual',
    });
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });

  it('may use the address that is computed for a Gravatar', async () => {
    const path = `GET /utils/gravatar?email=${encodeURIComponent(' Ann@Example.com ')}`;
    expect((await server.call(path)).status).toBe(401);
    expect((await as(ann)('GET /utils/gravatar')).status).toBe(400);
    const { status, body } = await as(ann)(path);
    // echo -n ann@example.com | sha256sum
    const hash = '71d4f55f72fa128dfb468a1a3901507c804b74316488744d769d7f4b16696476';
    expect([status, body]).toEqual([200, `https://www.gravatar.com/avatar/${hash}?d=mp`]);
    const sent = { name: 'Ann', profile_image_url: body };
    expect((await as(ann)('POST /auths/update/profile', sent)).body.profile_image_url).toBe(body);
  });

  it('shows an external picture by a redirect while files.show_external_pictures is on', async () => {
    const address = 'https://pictures.example.com/ann.png';
    await as(ann)('POST /auths/update/profile', { name: 'Ann', profile_image_url: address });
    const show = async (isShown: boolean) => {
      const { body: configuration } = await as(root)('GET /configs/export');
      configuration.files.show_external_pictures = isShown;
      await as(root)('POST /configs/import', configuration);
      return fetch(`${server.url}/api/v1/users/${ann.id}/profile/image`, {
        headers: { authorization: `Bearer ${root.token}` },
        redirect: 'manual',
      });
    };
    const redirected = await show(true);
    expect([redirected.status, redirected.headers.get('location')]).toEqual([302, address]);
    expect(redirected.headers.get('referrer-policy')).toBe('no-referrer');
    expect((await show(false)).status).toBe(200);
  });

  it('stays the same when a client sends back what it read', async () => {
    await as(ann)('POST /auths/update/profile', {
      name: 'Ann',
      profile_image_url: PIXEL,
      bio: 'Paints',
      gender: 'she',
      date_of_birth: '1999-12-31',
    });
    await as(ann)('POST /users/user/status/update', { status_emoji: 'tea', status_message: 'Break' });
    const before = (await as(ann)('GET /auths')).body;
    expect(before).toMatchObject({
      bio: 'Paints',
      gender: 'she',
      date_of_birth: '1999-12-31',
      status_emoji: 'tea',
      status_message: 'Break',
      status_expires_at: null,
    });
    const { name, profile_image_url, bio, gender, date_of_birth } = before;
    const sent = { name, profile_image_url, bio, gender, date_of_birth };
    expect((await as(ann)('POST /auths/update/profile', sent)).body).toMatchObject(sent);
    const { updated_at: _, ...rest } = before;
    expect((await as(ann)('GET /auths')).body).toMatchObject(rest);
  });

  it.each([
    [{ profile_image_url: 'http://example.com/a.png' }, 'profile_image_url'],
    [{ profile_image_url: 'data:image/svg+xml;base64,PHN2Zz4=' }, 'profile_image_url'],
    [{ name: '' }, 'name'],
    [{ name: 'a\0' }, 'name'],
    [{ bio: 'x'.repeat(5000) }, 'bio'],
    [{ date_of_birth: '1999-02-30' }, 'date_of_birth'],
  ])('refuses invalid members, case %#', async (wrong, path) => {
    const body = { name: 'Ann', profile_image_url: '', ...wrong };
    const answer = await as(ann)('POST /auths/update/profile', body);
    expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, path]);
  });
});

describe('the time zone', () => {
  const PATH = 'POST /auths/update/timezone';

  it('is stored for every account, pending ones too', async () => {
    expect((await server.call(PATH, { body: { timezone: 'UTC' } })).status).toBe(401);
    const waiting = await signUp(server, 'Waiting');
    for (const [person, timezone] of [
      [ann, 'Europe/Berlin'],
      [ann, 'America/Argentina/Buenos_Aires'],
      [waiting, 'UTC'],
    ] as const) {
      const { status, body } = await as(person)(PATH, { timezone });
      expect([status, body]).toEqual([200, { status: true }]);
      expect((await as(root)(`GET /users/${person.id}`)).body).toMatchObject({ timezone });
    }
    expect((await as(ann)('GET /users/user/status')).body.timezone).toBe('America/Argentina/Buenos_Aires');
    await as(ann)('POST /auths/update/profile', { name: 'Ann', profile_image_url: '' });
    expect((await as(ann)('GET /users/user/status')).body.timezone).toBe('America/Argentina/Buenos_Aires');
    expect((await as(root)('GET /users/user/status')).body.timezone).toBeNull();
  });

  it.each([undefined, null, 1, '', ' ', '+02:00', '-05', 'Europe/Atlantis', 'UTC\0', 'x'.repeat(65)])(
    'must be a name of the IANA list, not %j',
    async (timezone) => {
      const { status, body } = await as(ann)(PATH, { timezone });
      expect([status, body.issues?.[0].path]).toEqual([400, 'timezone']);
    },
  );
});

describe('the picture', () => {
  const picture = (path: string, token = ann.token) =>
    fetch(`${server.url}/api/v1/users/${path}/profile/image`, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${token}` },
    });

  it('is the uploaded one or the initials, and cannot act as a page', async () => {
    await as(ann)('POST /auths/update/profile', { name: 'Ann', profile_image_url: PIXEL });
    const uploaded = await picture(ann.id, root.token);
    expect(uploaded.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await uploaded.arrayBuffer())).toEqual(
      Buffer.from(PIXEL.split(',')[1] ?? '', 'base64'),
    );
    await as(ann)('POST /auths/update/profile', { name: 'Ann <script> 9"x', profile_image_url: '' });
    const drawn = await picture(ann.id);
    expect(drawn.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
    expect(await drawn.text()).toMatch(/>A9<\/text><\/svg>$/);
    for (const { headers } of [uploaded, drawn]) {
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('is a common one for unknown accounts, and never an external address, whatever the row has', async () => {
    for (const id of ['00000000-0000-4000-8000-000000000000', 'x']) {
      expect((await picture(id)).headers.get('content-type')).toMatch(/^image\/svg/);
    }
    for (const url of [
      'https://example.com/a.png',
      'data:text/html;base64,AAAA',
      'data:image/svg+xml;base64,AAAA',
    ]) {
      await server.database.query('update users set profile_image_url = $1 where id = $2', [url, ann.id]);
      const answer = await picture(ann.id);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^image\/svg\+xml/),
      ]);
      expect(await answer.text()).toContain('</text>');
    }
  });

  it('requires a sign-in', async () => {
    expect((await picture(ann.id, 'wrong')).status).toBe(401);
  });
});

describe('the status', () => {
  it('is set, keeps members that are not sent, and is removed by null', async () => {
    const soon = Math.floor(Date.now() / 1000) + 3600;
    const said = { status_emoji: '🎨', status_message: 'painting', status_expires_at: soon };
    expect((await as(ann)('POST /users/user/status/update', said)).body).toMatchObject(said);
    const changed = await as(ann)('POST /users/user/status/update', { status_message: 'resting' });
    expect(changed.body).toMatchObject({ ...said, status_message: 'resting' });
    expect((await as(root)(`GET /users/${ann.id}/info`)).body).toMatchObject({ status_message: 'resting' });
    await as(ann)('POST /users/user/status/update', { status_emoji: null, status_message: null });
    expect((await as(ann)('GET /users/user/status')).body).toMatchObject({
      status_emoji: null,
      status_message: null,
    });
  });

  it('ends by itself', async () => {
    await as(ann)('POST /users/user/status/update', { status_message: 'over', status_expires_at: 1 });
    expect((await as(root)(`GET /users/${ann.id}/info`)).body.status_message).toBe(null);
    const wrong = await as(ann)('POST /users/user/status/update', { status_expires_at: 2 ** 40 });
    expect(wrong.status).toBe(400);
  });
});

describe('data of clients', () => {
  it('are merged, also by two at once, and bounded', async () => {
    expect((await as(ann)('GET /users/user/info')).body).toBe(null);
    await Promise.all([1, 2, 3].map((i) => as(ann)('POST /users/user/info/update', { [`key${i}`]: i })));
    expect((await as(ann)('POST /users/user/info/update', { key1: null })).body).toEqual({
      key1: null,
      key2: 2,
      key3: 3,
    });
    expect((await as(root)('GET /users/user/info')).body).toBe(null);
    const large = () =>
      as(ann)('POST /users/user/info/update', { [crypto.randomUUID()]: 'x'.repeat(150_000) });
    const statuses = [(await large()).status, (await large()).status];
    expect(statuses).toEqual([200, 400]);
    expect((await as(ann)('POST /users/user/info/update', [1])).status).toBe(400);
  });
});
