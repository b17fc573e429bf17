import { afterAll, beforeEach, expect, it } from 'vitest';
import { openOrm } from '../../src/database/orm.ts';
import { openSql } from '../../src/database/sql.ts';
import { entities } from '../../src/entities.ts';
import { createLocalBus } from '../../src/events/bus.ts';
import { type Membership, syncMemberships } from '../../src/groups/members.service.ts';
import { signUpAll, startServer } from '../support/server.ts';

const server = await startServer();
const [root, ann] = await signUpAll(server, 'Root', 'Ann');

/**
 * Tests the groups that a sign-in reports, in the form that the ways of signing in use, on the database of a
 * running server.
 */
const bus = createLocalBus((error) => {
  throw error;
});

const orm = await openOrm(entities, { url: server.database.url });
const sql = await openSql(orm);
afterAll(async () => {
  await orm.close(true);
  await server.close();
});
beforeEach(() => server.database.query('delete from user_group'));

const as = (request: string, body?: unknown) =>
  server.call(request, { token: root.token, ...(body !== undefined && { body }) });
const make = async (name: string) => (await as('POST /groups/create', { name, description: '' })).body;
const request = { id: '', ip: '127.0.0.1', userAgent: '', sameOrigin: true };
const sync = (names: string[], more: Partial<Membership> = {}) =>
  syncMemberships(
    { sql, bus, actor: null, request },
    { userId: ann.id, source: 'oauth', names, create: false, ...more },
  );
const groupsOfAnn = async () =>
  (await as(`GET /users/${ann.id}/groups`)).body.map(({ name }: { name: string }) => name).toSorted();

it('adds a user to the named groups and removes the user from others, but only those that it added', async () => {
  const [one, two] = [await make('one'), await make('two')];
  const byHand = await make('by hand');
  for (const { id } of [byHand, one]) await as(`POST /groups/id/${id}/users/add`, { user_ids: [ann.id] });
  expect(await sync(['one', 'two', 'two', 'unknown'])).toEqual({
    joined: [one.id, two.id].toSorted(),
    left: [],
  });
  await sync(['two'], { source: 'ldap' });
  expect(await sync([])).toMatchObject({ joined: [] });
  // Memberships by hand and by the directory stay.
  expect(await groupsOfAnn()).toEqual(['by hand', 'one', 'two']);
  expect((await as(`GET /groups/id/${two.id}/export`)).body.members).toEqual([
    { user_id: ann.id, sources: ['ldap'] },
  ]);
  expect(await sync([], { source: 'ldap' })).toEqual({ joined: [], left: [two.id] });
});

it('creates missing groups when it may, once for concurrent sign-ins', async () => {
  const names = ['made', 'by', 'sign-in'];
  await Promise.all([
    ...[ann, ann, root].map(({ id: userId }) => sync(names, { userId, create: true })),
    ...[ann, root].map(({ id: userId }) => sync(names, { userId, create: true, source: 'ldap' })),
  ]);
  expect(await groupsOfAnn()).toEqual(names.toSorted());
  const { body } = await as('GET /groups');
  expect(body.map(({ member_count }: { member_count: number }) => member_count)).toEqual([2, 2, 2]);
});

it('reports the changed users, and nothing without a change', async () => {
  await make('told');
  const told: (string[] | null)[] = [];
  const end = bus.subscribe('groups.changed', ({ userIds }) => void told.push(userIds));
  await sync(['told']);
  await sync(['told']);
  end();
  expect(told).toEqual([[ann.id]]);
});

it('matches names exactly, and ignores names that no group can have', async () => {
  const any = await make('any');
  expect(await sync(['ANY', 'a%', '%', 'any '], { create: false })).toEqual({ joined: [], left: [] });
  const odd = ['', ' ', 'x'.repeat(300), 'nul\0'];
  expect((await sync(['any', ...odd], { create: true })).joined).toEqual([any.id]);
});
