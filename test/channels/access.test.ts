import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, startServer, type TestServer } from '../support/server.ts';
import { type Action, actionsOn, allowed } from './access.actions.ts';
import {
  ALL_RELATIONS,
  gather,
  KINDS,
  type Kind,
  type People,
  type Relation,
  type Stage,
  setStage,
  setStageOf,
} from './people.ts';

/*
 * Who may do what, once for each way in. What is not allowed changes nothing.
 */

interface Outcome {
  status: number;
  code: string | undefined;
}

const REFUSALS: Partial<Record<Relation, Outcome>> = {
  pending: { status: 401, code: 'account_pending' },
  signedOut: { status: 401, code: 'unauthenticated' },
  revoked: { status: 401, code: 'unauthenticated' },
};
const FORBIDDEN: Outcome = { status: 403, code: 'forbidden' };

const expected = (action: Action, kind: Kind, relation: Relation): Outcome =>
  REFUSALS[relation] ??
  (allowed(action, kind).includes(relation) ? { status: 200, code: undefined } : FORBIDDEN);

let server: TestServer;
let people: People;
beforeAll(async () => {
  server = await startServer();
  people = await gather(server);
});
afterAll(() => server.close());

const DOORS: Record<string, (action: Action, stage: Stage, person: Person) => Promise<Outcome>> = {
  async REST({ rest }, stage, { token }) {
    const [request, body] = rest(stage);
    const answer = await server.call(request, { token, body });
    return { status: answer.status, code: answer.body?.code };
  },
  async tRPC({ trpc }, stage, { token }) {
    const [type, path, input] = trpc(stage);
    const query = type === 'query' && input ? `?input=${encodeURIComponent(JSON.stringify(input))}` : '';
    const response = await fetch(`${server.url}/trpc/${path}${query}`, {
      method: type === 'query' ? 'GET' : 'POST',
      headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': 'application/json' },
      ...(type === 'mutation' && { body: JSON.stringify(input) }),
    });
    const answer = (await response.json()) as { error?: { data: { error_code: string } } };
    return { status: response.status, code: answer.error?.data.error_code };
  },
};

/** Everything that a refused call must leave alone, as one text. */
async function snapshot({ channelId }: Stage): Promise<string> {
  const rows = (table: string, column = 'channel_id') =>
    `(select coalesce(jsonb_agg(to_jsonb(t) order by to_jsonb(t)), '[]') from ${table} t where ${column} = $1::uuid)`;
  const [{ all } = { all: '' }] = await server.database.query<{ all: string }>(
    `select jsonb_build_array((select count(*) from channel), ${rows('channel', 'id')}, ${rows('message')},
       ${rows('message_reaction')}, ${rows('channel_event')}, ${rows('channel_member')})::text as all`,
    [channelId],
  );
  return all;
}

/** The stage of a kind; set again only after somebody was let in, since a refusal must leave it as it was. */
const stages = new Map<Kind, { stage: Stage; before: string }>();

async function stageOf(kind: Kind) {
  let set = stages.get(kind);
  if (!set) {
    const stage = await setStageOf(server, people, kind);
    set = { stage, before: await snapshot(stage) };
    stages.set(kind, set);
  }
  return set;
}

describe.each(Object.keys(DOORS))('at the %s door', (door) => {
  describe.each(KINDS)('in a %s channel', (kind) => {
    describe.each(ALL_RELATIONS.filter((relation) => relation !== 'public'))('%s', (relation) => {
      it.each(actionsOn(kind))('$name', async (action) => {
        const { stage, before } = await stageOf(kind);
        const outcome = await DOORS[door]?.(action, stage, people[relation]);
        expect(outcome).toEqual(expected(action, kind, relation));
        if (outcome?.status === 200 && action.trpc(stage)[0] === 'mutation') stages.clear();
        else expect(await snapshot(stage)).toBe(before);
      });
    });
  });
});

describe('lists', () => {
  it('hold what one may read, and for administrators all in the second', async () => {
    const hidden = await setStage(server, people, false);
    const open = await setStage(server, people, true);
    const idsIn = async (path: string, person: Person) => {
      const { body } = await server.call(`GET ${path}`, { token: person.token });
      const ids = body.map(({ id }: { id: string }) => id);
      return [ids.includes(hidden.channelId), ids.includes(open.channelId)];
    };
    const shown: Partial<Record<Relation, [boolean, boolean]>> = {
      owner: [true, true],
      administrator: [false, true],
      writer: [true, true],
      reader: [true, true],
      author: [true, true],
      public: [false, true],
      stranger: [false, true],
    };
    for (const [relation, both] of Object.entries(shown)) {
      const person = people[relation as Relation];
      expect([relation, await idsIn('/channels/', person)]).toEqual([relation, both]);
      const all = relation === 'administrator' ? [true, true] : both;
      expect([relation, await idsIn('/channels/list', person)]).toEqual([relation, all]);
    }
  });

  it('say what one may do, and show grants to writers only', async () => {
    const { channelId } = await setStage(server, people, true);
    const view = async (relation: Relation) =>
      (await server.call(`GET /channels/${channelId}`, { token: people[relation].token })).body;
    expect(await view('owner')).toMatchObject({ write_access: true, is_manager: true });
    expect((await view('owner')).access_grants).toHaveLength(8);
    expect(await view('administrator')).toMatchObject({ write_access: true, is_manager: true });
    expect(await view('writer')).toMatchObject({ write_access: true, is_manager: false });
    expect((await view('writer')).access_grants).toHaveLength(8);
    for (const relation of ['reader', 'author', 'public'] as const) {
      expect(await view(relation)).toMatchObject({
        write_access: false,
        is_manager: false,
        access_grants: [],
      });
    }
  });
});

describe('ids in the address', () => {
  it('a message of another channel is none of this one, for every operation', async () => {
    const here = await setStage(server, people, false);
    const there = await setStage(server, people, false);
    const { token } = people.owner;
    const path = `/channels/${here.channelId}/messages/${there.othersId}`;
    const body = { content: 'changed', is_pinned: true, name: '👍' };
    const before = [await snapshot(here), await snapshot(there)];
    for (const request of [
      `GET ${path}`,
      `GET ${path}/data`,
      `GET ${path}/thread`,
      `POST ${path}/update`,
      `POST ${path}/pin`,
      `POST ${path}/reactions/add`,
      `POST ${path}/reactions/remove`,
      `DELETE ${path}/delete`,
    ]) {
      const answer = await server.call(request, { token, ...(request.startsWith('POST') && { body }) });
      expect([request, answer.status, answer.body.code]).toEqual([request, 404, 'not_found']);
    }
    expect([await snapshot(here), await snapshot(there)]).toEqual(before);
  });

  it('a reader of one channel cannot reach a message through it that stands in a hidden one', async () => {
    const hidden = await setStage(server, people, false);
    const open = await setStage(server, people, true);
    const answer = await server.call(`GET /channels/${open.channelId}/messages/${hidden.othersId}`, {
      token: people.public.token,
    });
    expect(answer.status).toBe(404);
  });

  it('an unknown channel is 404, a text that is no id 400', async () => {
    const { token } = people.owner;
    const nowhere = '018f0000-0000-7000-8000-000000000000';
    const body = { content: 'x', name: 'x', is_pinned: true };
    for (const request of [
      `GET /channels/${nowhere}`,
      `POST /channels/${nowhere}/update`,
      `DELETE /channels/${nowhere}/delete`,
      `GET /channels/${nowhere}/messages`,
      `POST /channels/${nowhere}/messages/post`,
      `GET /channels/${nowhere}/messages/pinned`,
      `GET /channels/${nowhere}/messages/${nowhere}`,
      `GET /channels/${nowhere}/messages/${nowhere}/data`,
      `GET /channels/${nowhere}/messages/${nowhere}/thread`,
      `POST /channels/${nowhere}/messages/${nowhere}/pin`,
      `POST /channels/${nowhere}/messages/${nowhere}/reactions/add`,
      `POST /channels/${nowhere}/messages/${nowhere}/reactions/remove`,
      `POST /channels/${nowhere}/messages/${nowhere}/update`,
      `DELETE /channels/${nowhere}/messages/${nowhere}/delete`,
    ]) {
      const options = { token, ...(request.startsWith('POST') && { body }) };
      expect([request, (await server.call(request, options)).status]).toEqual([request, 404]);
      const wrong = request.replaceAll(nowhere, "1'--");
      expect([wrong, (await server.call(wrong, options)).status]).toEqual([wrong, 400]);
    }
  });
});
