import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestOf } from '../support/doors.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ACTIONS, expected } from './access.actions.ts';
import { DONE, hearers } from './access.rights.ts';
import { PROCEDURES, procedureOf } from './access.table.ts';
import {
  ALL_RELATIONS,
  gather,
  KINDS,
  type People,
  type Relation,
  type Stage,
  setStageOf,
} from './people.ts';

/*
 * Lists that every user may ask for must not contain channels that the user may not read: not the id, not the
 * name, not the messages.
 */

let server: TestServer;
let people: People;
beforeAll(async () => {
  server = await startServer();
  people = await gather(server);
});
afterAll(() => server.close());

const readings = ACTIONS.filter(
  ({ needs, procedure }) =>
    needs === 'be let in' && PROCEDURES.get(procedure)?.meta?.openapi?.method === 'GET',
);

describe.each(KINDS)('beside a %s channel', (kind) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStageOf(server, people, kind);
    const path = `/channels/${stage.channelId}/messages`;
    // A thread with users who lost their access.
    for (const [as, parent_id] of [
      ['manager', stage.leftId],
      ['manager', stage.removedId],
      ['writer', stage.othersId],
    ] as const) {
      const body = { content: `as it was, <@U:${people.left.id}|Left>`, parent_id };
      const { status } = await server.call(`POST ${path}/post`, { token: people[as].token, body });
      expect(status).toBe(200);
    }
  });

  const isTold = (relation: Relation) =>
    hearers(kind).includes(relation === 'public' ? 'stranger' : relation);

  it.each(readings)('$name: shows no channel without access', async (action) => {
    const { procedure, input } = action;
    for (const relation of ALL_RELATIONS.filter((one) => expected(action, kind, one) === DONE)) {
      const made = requestOf(procedureOf(procedure), input(stage, people));
      const { token } = people[relation];
      const { status, body } = await server.call(made?.request ?? '', { token });
      expect([relation, status]).toEqual([relation, 200]);
      const text = JSON.stringify(body);
      const seen = [stage.channelId, stage.othersId, stage.ownId, stage.leftId].filter((id) =>
        text.includes(id),
      );
      // The only list for managing channels instead of reading them.
      const isCaretaking = procedure === 'channels.listAll' && kind !== 'dm';
      const mayKnow = isTold(relation) || (isCaretaking && ['owner', 'administrator'].includes(relation));
      if (!mayKnow) expect([relation, seen]).toEqual([relation, []]);
      if (procedure === 'search.messages' && isTold(relation)) expect(seen).toContain(stage.othersId);
    }
  });
});

describe('channels', () => {
  it('are in the list of their readers; the second list shows administrators all but direct ones', async () => {
    const stages = await Promise.all(KINDS.map((kind) => setStageOf(server, people, kind)));
    const shownIn = async (path: string, relation: Relation) => {
      const { body } = await server.call(`GET ${path}`, { token: people[relation].token });
      const ids = new Set(body.map(({ id }: { id: string }) => id));
      return KINDS.filter((_, n) => ids.has(stages[n]?.channelId));
    };
    const own: Partial<Record<Relation, string[]>> = {
      owner: ['public'],
      administrator: ['public'],
      insider: ['standard', 'public', 'group', 'dm'],
      founder: ['standard', 'public', 'group', 'dm'],
      writer: ['standard', 'public', 'group', 'dm'],
      reader: ['standard', 'public'],
      stranger: ['public'],
      left: ['public'],
      removed: ['public'],
    };
    for (const [name, kinds] of Object.entries(own)) {
      const relation = name as Relation;
      const isAdministrator = ['owner', 'administrator'].includes(name);
      expect([name, await shownIn('/channels/', relation)]).toEqual([name, kinds]);
      const all = isAdministrator ? ['standard', 'public', 'group'] : kinds;
      expect([name, await shownIn('/channels/list', relation)]).toEqual([name, all]);
    }
  });

  it('tell callers their rights, and show grants only to writers', async () => {
    const { channelId } = await setStageOf(server, people, 'public');
    const view = async (relation: Relation) =>
      (await server.call(`GET /channels/${channelId}`, { token: people[relation].token })).body;
    for (const relation of ['owner', 'administrator', 'founder'] as const)
      expect(await view(relation)).toMatchObject({ write_access: true, is_manager: true });
    expect(await view('writer')).toMatchObject({ write_access: true, is_manager: false });
    for (const relation of ['owner', 'writer'] as const)
      expect((await view(relation)).access_grants).toHaveLength(9);
    for (const relation of ['reader', 'author', 'stranger'] as const) {
      expect(await view(relation)).toMatchObject({
        write_access: false,
        is_manager: false,
        access_grants: [],
      });
    }
  });
});
