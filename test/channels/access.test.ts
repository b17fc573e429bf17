import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, startServer, type TestServer } from '../support/server.ts';
import { gather, type People, RELATIONS, type Relation, type Stage, setStage } from './people.ts';

/*
 * Who may do what, once for each way in. What is not allowed changes nothing.
 */

interface Action {
  name: string;
  /** The call at the REST door. */
  rest: (stage: Stage) => [request: string, body?: unknown];
  /** The same at the tRPC door. */
  trpc: (stage: Stage) => [type: 'query' | 'mutation', path: string, input?: unknown];
  /** Who succeeds; everybody else who is signed in gets 403. */
  allowed: readonly Relation[];
}

const READERS: Relation[] = ['owner', 'administrator', 'writer', 'reader', 'author', 'public'];
const WRITERS: Relation[] = ['owner', 'administrator', 'writer'];
const MANAGERS: Relation[] = ['owner', 'administrator'];
const EVERYBODY: Relation[] = [...READERS, 'stranger'];
const edit = { content: 'changed', data: { by: 'edit' } };

const ACTIONS: Action[] = [
  {
    name: 'list channels',
    rest: () => ['GET /channels/'],
    trpc: () => ['query', 'channels.list'],
    allowed: EVERYBODY,
  },
  {
    name: 'list all channels',
    rest: () => ['GET /channels/list'],
    trpc: () => ['query', 'channels.listAll'],
    allowed: EVERYBODY,
  },
  {
    name: 'ask for the cursor of events',
    rest: () => ['GET /channels/events/cursor'],
    trpc: () => ['query', 'channels.cursor'],
    allowed: EVERYBODY,
  },
  {
    name: 'create a channel',
    rest: () => ['POST /channels/create', { name: 'another' }],
    trpc: () => ['mutation', 'channels.create', { name: 'another' }],
    allowed: MANAGERS,
  },
  {
    name: 'get the channel',
    rest: ({ channelId }) => [`GET /channels/${channelId}`],
    trpc: ({ channelId: id }) => ['query', 'channels.get', { id }],
    allowed: READERS,
  },
  {
    name: 'update the channel',
    rest: ({ channelId }) => [`POST /channels/${channelId}/update`, { name: 'changed' }],
    trpc: ({ channelId: id }) => ['mutation', 'channels.update', { id, name: 'changed' }],
    allowed: MANAGERS,
  },
  {
    name: 'delete the channel',
    rest: ({ channelId }) => [`DELETE /channels/${channelId}/delete`],
    trpc: ({ channelId: id }) => ['mutation', 'channels.delete', { id }],
    allowed: MANAGERS,
  },
  {
    name: 'list messages',
    rest: ({ channelId }) => [`GET /channels/${channelId}/messages`],
    trpc: ({ channelId: id }) => ['query', 'messages.list', { id }],
    allowed: READERS,
  },
  {
    name: 'get a message',
    rest: ({ channelId, othersId }) => [`GET /channels/${channelId}/messages/${othersId}`],
    trpc: ({ channelId: id, othersId: message_id }) => ['query', 'messages.get', { id, message_id }],
    allowed: READERS,
  },
  {
    name: 'post',
    rest: ({ channelId }) => [`POST /channels/${channelId}/messages/post`, { content: 'new' }],
    trpc: ({ channelId: id }) => ['mutation', 'messages.post', { id, content: 'new' }],
    allowed: WRITERS,
  },
  {
    name: "edit another's message",
    rest: ({ channelId, othersId }) => [`POST /channels/${channelId}/messages/${othersId}/update`, edit],
    trpc: ({ channelId: id, othersId }) => [
      'mutation',
      'messages.update',
      { id, message_id: othersId, ...edit },
    ],
    allowed: WRITERS,
  },
  {
    name: "delete another's message",
    rest: ({ channelId, othersId }) => [`DELETE /channels/${channelId}/messages/${othersId}/delete`],
    trpc: ({ channelId: id, othersId }) => ['mutation', 'messages.delete', { id, message_id: othersId }],
    allowed: WRITERS,
  },
  {
    name: "edit the author's message",
    rest: ({ channelId, ownId }) => [`POST /channels/${channelId}/messages/${ownId}/update`, edit],
    trpc: ({ channelId: id, ownId }) => ['mutation', 'messages.update', { id, message_id: ownId, ...edit }],
    allowed: [...WRITERS, 'author'],
  },
  {
    name: "delete the author's message",
    rest: ({ channelId, ownId }) => [`DELETE /channels/${channelId}/messages/${ownId}/delete`],
    trpc: ({ channelId: id, ownId }) => ['mutation', 'messages.delete', { id, message_id: ownId }],
    allowed: [...WRITERS, 'author'],
  },
];

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

const expected = ({ allowed }: Action, relation: Relation): Outcome =>
  REFUSALS[relation] ?? (allowed.includes(relation) ? { status: 200, code: undefined } : FORBIDDEN);

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

/** Everything that a refused call must leave alone. */
async function snapshot({ channelId }: Stage) {
  const [channels, messages, events] = await Promise.all([
    server.database.query('select * from channel order by id'),
    server.database.query('select * from message where channel_id = $1 order by id', [channelId]),
    server.database.query('select id from channel_event where channel_id = $1', [channelId]),
  ]);
  return { channels, messages, events };
}

describe.each(Object.keys(DOORS))('at the %s door', (door) => {
  describe.each(RELATIONS)('%s', (relation) => {
    it.each(ACTIONS)('$name', async (action) => {
      const stage = await setStage(server, people, relation === 'public');
      const before = await snapshot(stage);
      const outcome = await DOORS[door]?.(action, stage, people[relation]);
      expect(outcome).toEqual(expected(action, relation));
      if (outcome?.status !== 200) expect(await snapshot(stage)).toEqual(before);
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
    expect((await view('owner')).access_grants).toHaveLength(6);
    expect(await view('administrator')).toMatchObject({ write_access: true, is_manager: true });
    expect(await view('writer')).toMatchObject({ write_access: true, is_manager: false });
    expect((await view('writer')).access_grants).toHaveLength(6);
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
    const body = { content: 'changed' };
    for (const request of [`GET ${path}`, `POST ${path}/update`, `DELETE ${path}/delete`]) {
      const answer = await server.call(request, { token, ...(request.startsWith('POST') && { body }) });
      expect([request, answer.status, answer.body.code]).toEqual([request, 404, 'not_found']);
    }
    const untouched = await server.call(`GET /channels/${there.channelId}/messages/${there.othersId}`, {
      token,
    });
    expect(untouched.body.content).toBe('as it was');
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
    const body = { content: 'x', name: 'x' };
    for (const request of [
      `GET /channels/${nowhere}`,
      `POST /channels/${nowhere}/update`,
      `DELETE /channels/${nowhere}/delete`,
      `GET /channels/${nowhere}/messages`,
      `POST /channels/${nowhere}/messages/post`,
      `GET /channels/${nowhere}/messages/${nowhere}`,
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
