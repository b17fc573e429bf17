import { afterAll, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { signUpAll, signUpAs, startServer } from '../support/server.ts';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [owner, member] = await signUpAll(server, 'Owner', 'Member');

const create = async (body: Record<string, unknown>, person = owner) =>
  (await as(person)('POST /channels/create', body)).body;

type Shown = { principal_id: string; permission: string }[];
const grantsOf = async (id: string) => {
  const shown: Shown = (await as(owner)(`GET /channels/${id}`)).body.access_grants;
  return shown.map(({ principal_id, permission }) => `${principal_id} ${permission}`).sort();
};

describe('a channel', () => {
  it('is created with defaults, and all reads return the same', async () => {
    const channel = await create({ name: 'general' });
    expect(channel).toEqual({
      id: expect.any(String),
      user_id: owner.id,
      type: null,
      name: 'general',
      description: null,
      is_private: null,
      data: null,
      meta: null,
      access_grants: [],
      created_at: expect.any(Number),
      updated_at: channel.created_at,
      updated_by: null,
      last_message_at: null,
      write_access: true,
      is_manager: true,
      last_read_at: null,
      unread_count: 0,
      mention_count: 0,
      notify: 'all',
      is_channel_muted: false,
      user_ids: null,
      users: null,
      user_count: 1,
    });
    const { body: list } = await as(owner)('GET /channels');
    const { user_count: _count, ...listed } = channel;
    expect(list).toContainEqual(listed);
    expect((await as(owner)(`GET /channels/${channel.id}`)).body).toEqual(channel);
  });

  it('stores all members that were sent, grants included', async () => {
    const given = {
      name: 'Ünïcode 🚀',
      description: 'for all',
      is_private: true,
      data: { a: { b: [1] } },
      meta: { m: null },
    };
    const channel = await create({ ...given, access_grants: [grant(member.id, 'write')] });
    expect(channel).toMatchObject(given);
    expect(channel.access_grants).toEqual([
      {
        id: expect.any(String),
        resource_type: 'channel',
        resource_id: channel.id,
        ...grant(member.id, 'write'),
        created_at: expect.any(Number),
      },
    ]);
  });

  it('changes the members that are sent and keeps the rest', async () => {
    const data = { a: 1, $like: '%' };
    const channel = await create({
      name: 'old',
      description: 'd',
      data,
      meta: { m: 1 },
      access_grants: [grant(member.id, 'read')],
    });
    const { body } = await as(owner)(`POST /channels/${channel.id}/update`, { name: 'new', meta: { n: 2 } });
    const { updated_at, ...kept } = channel;
    expect(body).toEqual({
      ...kept,
      name: 'new',
      meta: { n: 2 },
      updated_at: expect.any(Number),
      updated_by: owner.id,
    });
    expect(body.updated_at).toBeGreaterThan(updated_at);
    const nulls = await as(owner)(`POST /channels/${channel.id}/update`, { description: null, data: null });
    expect(nulls.body).toMatchObject({ name: 'new', description: 'd', data: body.data });
    const cleared = await as(owner)(`POST /channels/${channel.id}/update`, { description: '', data: {} });
    expect(cleared.body).toMatchObject({ name: 'new', description: '', data: {}, meta: { n: 2 } });
  });

  it.each(['data', 'meta'])('takes %s of at most 8 KiB, since each event carries it', async (member) => {
    const ofSize = (bytes: number) => ({ [member]: { a: 'x'.repeat(bytes - '{"a":""}'.length) } });
    const { id } = await create({ name: 'x', ...ofSize(8192) });
    for (const request of ['POST /channels/create', `POST /channels/${id}/update`]) {
      const { status, body } = await as(owner)(request, { name: 'x', ...ofSize(8193) });
      expect([status, body.issues?.[0]?.path]).toEqual([400, member]);
    }
    expect((await as(owner)(`GET /channels/${id}`)).body).toMatchObject(ofSize(8192));
  });

  it('ignores members that only the server sets', async () => {
    const forged = {
      user_id: member.id,
      is_manager: false,
      created_at: 1,
      last_event: 99,
      last_message_at: 1,
      write_access: false,
    };
    const channel = await create({ name: 'mine', ...forged });
    expect(channel).toMatchObject({
      user_id: owner.id,
      type: null,
      last_message_at: null,
      write_access: true,
    });
    const { body } = await as(owner)(`POST /channels/${channel.id}/update`, { ...forged, type: 'dm' });
    expect(body).toMatchObject({ user_id: owner.id, type: null, created_at: channel.created_at });
  });

  it.each([
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a name of 257 characters', { name: 'x'.repeat(257) }],
    ['NUL in the name', { name: 'a\0' }],
    ['a name of white space only', { name: ' \t ' }],
    ['a name of two lines', { name: 'a\nb' }],
    ['a name that reverses the text behind it', { name: 'a\u202eb' }],
    ['data that is no object', { name: 'x', data: [] }],
    ['an unknown right', { name: 'x', access_grants: [{ ...grant('*', 'read'), permission: 'admin' }] }],
    [
      'an unknown kind of principal',
      { name: 'x', access_grants: [{ ...grant('*', 'read'), principal_type: 'robot' }] },
    ],
    ['grants that are no list', { name: 'x', access_grants: {} }],
  ])('is refused with %s', async (_what, body) => {
    expect(await as(owner)('POST /channels/create', body)).toMatchObject({
      status: 400,
      body: { code: 'validation' },
    });
  });

  it('may have a name of 256 characters, without the white space around it', async () => {
    expect((await create({ name: ` ${'x'.repeat(256)} ` })).name).toBe('x'.repeat(256));
  });

  it('shows the time of its last message', async () => {
    const { id } = await create({ name: 'lively' });
    const { body: message } = await as(owner)(`POST /channels/${id}/messages/post`, { content: 'x' });
    expect((await as(owner)(`GET /channels/${id}`)).body.last_message_at).toBe(message.created_at);
    expect((await as(owner)('GET /channels')).body[0].id).toBe(id);
  });

  it('is deleted with all its contents', async () => {
    const { id } = await create({ name: 'gone', access_grants: [grant(member.id, 'write')] });
    const root = (await as(member)(`POST /channels/${id}/messages/post`, { content: 'root' })).body.id;
    const reply = { content: 'reply', parent_id: root, reply_to_id: root };
    await as(member)(`POST /channels/${id}/messages/post`, reply);
    expect(await as(owner)(`DELETE /channels/${id}/delete`)).toMatchObject({ status: 200, body: true });
    expect(await as(owner)(`GET /channels/${id}`)).toMatchObject({ status: 404 });
    expect(await as(owner)(`DELETE /channels/${id}/delete`)).toMatchObject({ status: 404 });
    const left = await server.database.query(
      `select 'message' from message where channel_id = $1::uuid union all
       select 'event' from channel_event where channel_id = $1::uuid union all
       select 'grant' from access_grant where resource_id = $1::text`,
      [id],
    );
    expect(left).toEqual([]);
  });
});

describe('grants', () => {
  it('are replaced together, and kept when none are sent', async () => {
    const { id } = await create({
      name: 'x',
      access_grants: [grant(member.id, 'write'), grant('*', 'read')],
    });
    await as(owner)(`POST /channels/${id}/update`, { name: 'y' });
    expect(await grantsOf(id)).toEqual(['* read', `${member.id} write`].sort());
    await as(owner)(`POST /channels/${id}/update`, { access_grants: [grant(member.id, 'read')] });
    expect(await grantsOf(id)).toEqual([`${member.id} read`]);
    await as(owner)(`POST /channels/${id}/update`, { access_grants: null });
    expect(await grantsOf(id)).toEqual([`${member.id} read`]);
    await as(owner)(`POST /channels/${id}/update`, { access_grants: [] });
    expect(await grantsOf(id)).toEqual([]);
    expect(await as(member)(`GET /channels/${id}`)).toMatchObject({ status: 403 });
  });

  it('that are sent twice are stored once', async () => {
    const twice = [grant(member.id, 'read'), grant(member.id, 'read')];
    expect(await grantsOf((await create({ name: 'x', access_grants: twice })).id)).toEqual([
      `${member.id} read`,
    ]);
  });

  it('of concurrent replacements always are those of one of them', async () => {
    const { id } = await create({ name: 'x' });
    const sets = Array.from({ length: 12 }, (_, n) => [
      grant(`someone-${n}`, 'read'),
      grant(`someone-${n}`, 'write'),
    ]);
    const answers = await Promise.all(
      sets.map((access_grants) => as(owner)(`POST /channels/${id}/update`, { access_grants })),
    );
    expect(answers.map(({ status }) => status)).toEqual(sets.map(() => 200));
    const [first, second] = await grantsOf(id);
    expect(await grantsOf(id)).toHaveLength(2);
    expect(first?.replace('read', 'write')).toBe(second);
  });

  it('are deleted with the channel, without a deadlock', async () => {
    for (let round = 0; round < 8; round += 1) {
      const { id } = await create({ name: 'x', access_grants: [grant(member.id, 'read')] });
      const update = { access_grants: [grant('*', 'read')] };
      const [deletion, ...updates] = await Promise.all([
        as(owner)(`DELETE /channels/${id}/delete`),
        as(owner)(`POST /channels/${id}/update`, update),
        as(owner)(`POST /channels/${id}/update`, update),
      ]);
      expect(deletion?.status).toBe(200);
      for (const { status } of updates) expect([200, 404]).toContain(status);
      const left = await server.database.query('select from access_grant where resource_id = $1', [id]);
      expect(left).toHaveLength(0);
    }
  });

  it('to everyone require sharing.public_channels, and those to users require access_grants.allow_users', async () => {
    const demoted = await signUpAs(server, owner, 'Demoted', 'admin');
    const { id } = await create({ name: 'theirs' }, demoted);
    await as(owner)(`POST /users/${demoted.id}/update`, { role: 'user' });
    const { body: session } = await server.call('POST /auths/signin', {
      body: { email: demoted.email, password: 'correct horse battery' },
    });
    const asked = [grant('*', 'read'), grant(member.id, 'read')];
    const update = (access_grants: object[]) =>
      server.call(`POST /channels/${id}/update`, { token: session.token, body: { access_grants } });
    const ask = async () => {
      expect((await update(asked)).status).toBe(200);
      return grantsOf(id);
    };
    const permit = async (permissions: Record<string, Record<string, boolean>>) => {
      const { body: config } = await as(owner)('GET /configs/export');
      config.user.permissions = { ...config.user.permissions, ...permissions };
      expect((await as(owner)('POST /configs/import', config)).status).toBe(200);
    };
    expect(await ask()).toEqual([`${member.id} read`]);
    await permit({ sharing: { public_channels: true } });
    expect(await ask()).toEqual(['* read', `${member.id} read`].sort());
    await permit({ sharing: { public_channels: true }, access_grants: { allow_users: false } });
    // Existing grants may be sent back; a new one is refused by name.
    expect(await ask()).toEqual(['* read', `${member.id} read`].sort());
    const refused = await update([...asked, grant(owner.id, 'read')]);
    expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining(owner.id)]);
    await permit({ sharing: { public_channels: false } });
    expect(await ask()).toEqual([`${member.id} read`]);
  });
});

describe('switched off', () => {
  it('by channels.enable for all, and by features.channels for all but administrators', async () => {
    const { id } = await create({ name: 'x', access_grants: [grant('*', 'read')] });
    const { body: config } = await as(owner)('GET /configs/export');
    const change = (changes: object) => as(owner)('POST /configs/import', { ...config, ...changes });
    const requests = [
      'GET /channels',
      'GET /channels/list',
      `GET /channels/${id}`,
      `GET /channels/${id}/messages`,
    ];

    await change({ channels: { enable: false } });
    for (const person of [owner, member]) {
      for (const request of requests) {
        expect(await as(person)(request)).toMatchObject({ status: 403, body: { code: 'channels_disabled' } });
      }
    }
    const { permissions } = config.user;
    await change({ user: { permissions: { ...permissions, features: { channels: false } } } });
    for (const request of requests) {
      expect(await as(member)(request)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(await as(owner)(request)).toMatchObject({ status: 200 });
    }
    await change({});
    expect(await as(member)('GET /channels')).toMatchObject({ status: 200 });
  });
});
