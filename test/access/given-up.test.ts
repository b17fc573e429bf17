import { afterAll, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { openWorkshop } from '../tools/workshop.ts';

/*
 * Checks that a change is never refused after it was stored: a change that removes the caller's own right
 * answers 200, and the next call is refused.
 */

const shop = await openWorkshop();
const { server, admin, writer } = shop;
afterAll(() => shop.close());
const SOURCE = 'class Tools:\n    def f(self): return 1\n';
const groupOf = async (userId: string) => {
  const form = { name: `crew ${Math.random()}`, description: '' };
  const { body } = await server.as(admin)('POST /groups/create', form);
  await server.as(admin)(`POST /groups/id/${body.id}/users/add`, { user_ids: [userId] });
  return body.id as string;
};
const channel = async (form: object) =>
  (await server.as(admin)('POST /channels/create', { name: 'a', ...form })).body.id as string;
const tool = async (id: string, ...access_grants: object[]) =>
  server.as(admin)('POST /tools/create', { id, name: id, meta: {}, content: SOURCE, access_grants });
/** A group channel with the writer as its manager. */
const crew = async () => {
  const id = await channel({ type: 'group', user_ids: [writer.id] });
  await server.as(admin)(`POST /channels/${id}/members/role`, { user_id: writer.id, role: 'manager' });
  return id;
};
await shop.permit('features.channels', true);

/** Each entry gives the writer a right, and returns the call that removes it and a call that needs it. */
const CHANGES: Record<string, () => Promise<[change: string, body: object, needs: string, then?: object]>> = {
  async 'grants of a tool'() {
    await tool('access', grant(writer.id, 'write'));
    return ['POST /tools/id/access/access/update', { access_grants: [] }, 'GET /tools/id/access'];
  },
  async 'write access to a tool, while read access stays'() {
    await tool('lowered', grant(writer.id, 'write'));
    const access_grants = [grant(writer.id, 'read')];
    return ['POST /tools/id/lowered/access/update', { access_grants }, 'GET /tools/id/lowered/versions'];
  },
  async 'grants of a tool, together with its source'() {
    await tool('whole', grant(writer.id, 'write'));
    const body = { name: 'whole', meta: {}, content: `${SOURCE}# more\n`, access_grants: [] };
    return ['POST /tools/id/whole/update', body, 'GET /tools/id/whole'];
  },
  async 'the grant of a group on a tool'() {
    await tool('crewed', grant(await groupOf(writer.id), 'write', 'group'));
    return ['POST /tools/id/crewed/access/update', { access_grants: [] }, 'GET /tools/id/crewed'];
  },
  async 'membership in a channel, by removal'() {
    const id = await crew();
    return [`POST /channels/${id}/update/members/remove`, { user_ids: [writer.id] }, `GET /channels/${id}`];
  },
  async 'membership in a channel, by leaving'() {
    const id = await crew();
    return [`POST /channels/${id}/members/leave`, {}, `GET /channels/${id}`];
  },
  async 'the role of manager in a channel'() {
    const id = await crew();
    const body = { user_id: writer.id, role: 'member' };
    return [`POST /channels/${id}/members/role`, body, `POST /channels/${id}/members/role`, body];
  },
  async 'the tool itself'() {
    await tool('gone', grant(writer.id, 'write'));
    return ['DELETE /tools/id/gone/delete', {}, 'GET /tools/id/gone'];
  },
  async 'the channel itself'() {
    const id = await crew();
    return [`DELETE /channels/${id}/delete`, {}, `GET /channels/${id}`];
  },
};

it.each(Object.keys(CHANGES))('a caller may give up a right of their own: %s', async (name) => {
  const [change, body, needs, then] = (await CHANGES[name]?.()) ?? ['', {}, ''];
  const changed = await server.as(writer)(change, body);
  expect([changed.status, changed.body?.detail]).toEqual([200, undefined]);
  expect([401, 403, 404]).toContain((await server.as(writer)(needs, then)).status);
});

it('an administrator who gives up a right gets 200, or is refused before anything is stored', async () => {
  const own = await groupOf(admin.id);
  const removed = await server.as(admin)(`POST /groups/id/${own}/users/remove`, { user_ids: [admin.id] });
  expect(removed).toMatchObject({ status: 200, body: { id: own } });
  const demoted = await server.as(admin)(`POST /users/${admin.id}/update`, { role: 'user' });
  expect(demoted.status).toBe(403);
  expect((await server.as(admin)('GET /auths')).body.role).toBe('admin');
});
