import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOOR_NAMES, type DoorName } from '../support/doors.ts';
import type { TestServer } from '../support/server.ts';
import type { Outcome } from '../support/sockets.ts';
import { ACTIONS, type Action, type Input } from './access.actions.ts';
import { NOT_FOUND, UNFIT } from './access.rights.ts';
import type { Snapshots } from './access.snapshot.ts';
import { openTable, PROCEDURES, type Table } from './access.table.ts';
import { type Kind, type People, type Relation, type Stage, setStageOf } from './people.ts';

/* Tests operations with two ids: access to one resource gives none to the other. */

let table: Table;
let server: TestServer;
let people: People;
let snapshots: Snapshots;

beforeAll(async () => {
  table = await openTable();
  ({ server, people, snapshots } = table);
});
afterAll(() => table.close());

const attempt = (name: DoorName, as: Relation, { procedure }: Action, input: Input) =>
  table.attempt(name, as, { procedure, input });

/** The ids beside that of the channel, each with its value from another channel. */
const OTHERS: Record<string, (there: Stage) => string> = {
  message_id: ({ othersId }) => othersId,
  parent_id: ({ othersId }) => othersId,
  reply_to_id: ({ othersId }) => othersId,
  webhook_id: ({ webhook }) => webhook.id,
};
/** In the body, such an id is an invalid input. */
const inBody = (member: string) => member === 'parent_id' || member === 'reply_to_id';

const SAMPLE: Stage = {
  channelId: 'c',
  othersId: 'm',
  ownId: 'm',
  leftId: 'm',
  removedId: 'm',
  fileId: 'f',
  webhook: { id: 'w', token: 't' },
};
const NOBODIES = new Proxy({} as People, { get: () => ({ id: 'u' }) });
const inputOf = (action: Action) => action.input(SAMPLE, NOBODIES);
const membersOf = (action: Action) =>
  'id' in inputOf(action) ? Object.keys(OTHERS).filter((member) => member in inputOf(action)) : [];
const pairs = ACTIONS.flatMap((action) => membersOf(action).map((member) => ({ ...action, action, member })));

it('the table has every operation with a channel and a part of it', () => {
  const both = [...PROCEDURES.values()].filter(({ meta }) =>
    /\{id\}.*\{(message|webhook)_id\}/.test(meta?.openapi?.path ?? ''),
  );
  const named = new Set(pairs.map(({ procedure }) => procedure));
  expect(named).toEqual(new Set([...both.map(({ path }) => path), 'messages.post']));
});

const KIND_PAIRS: [Kind, Kind][] = [
  ['standard', 'standard'],
  ['standard', 'group'],
  ['group', 'dm'],
  ['dm', 'public'],
];

describe.each(KIND_PAIRS)('in a %s channel, with an id from a %s channel', (here, there) => {
  let stages: [Stage, Stage];
  beforeAll(async () => {
    stages = [await setStageOf(server, people, here), await setStageOf(server, people, there)];
  });

  it.each(pairs)('$name: refuses $member of the other channel', async ({ action, member }) => {
    const [ours, theirs] = stages;
    // A caller with every right here, and in some of the pairs in the other channel as well.
    const as: Relation = here === 'standard' ? 'owner' : 'insider';
    const input = { ...action.input(ours, people), [member]: OTHERS[member]?.(theirs) };
    const before = [await snapshots.take(ours), await snapshots.take(theirs)];
    for (const name of DOOR_NAMES) {
      const outcome = await attempt(name, as, action, input);
      // Direct channels have no manager.
      const isRefused = here === 'dm' && member === 'webhook_id';
      const expected: Outcome = isRefused
        ? { status: 403, code: 'forbidden' }
        : inBody(member)
          ? UNFIT
          : NOT_FOUND;
      expect([name, outcome]).toEqual([name, expected]);
    }
    expect([await snapshots.take(ours), await snapshots.take(theirs)]).toEqual(before);
  });
});

describe('an id in the body', () => {
  let ours: Stage;
  let hidden: Stage;
  beforeAll(async () => {
    [ours, hidden] = [await setStageOf(server, people, 'public'), await setStageOf(server, people, 'group')];
  });
  const call = (request: string, body: unknown, as: Relation) =>
    server.call(request, { token: people[as].token, body });

  it('of a file that the caller may not read is refused in a message and in an edit', async () => {
    const files = [{ type: 'file', id: hidden.fileId }];
    const before = await snapshots.take(ours);
    const path = `/channels/${ours.channelId}/messages`;
    const body = { content: 'mine now', data: { files } };
    for (const request of [`POST ${path}/post`, `POST ${path}/${ours.othersId}/update`]) {
      const answer = await call(request, body, 'owner');
      expect([request, answer.status]).toEqual([request, 400]);
    }
    expect(await snapshots.take(ours)).toEqual(before);
  });

  it('of a channel that the caller may not read refuses the whole subscription', async () => {
    for (const channel_ids of [[hidden.channelId], [ours.channelId, hidden.channelId]]) {
      const attempt = { procedure: 'channels.events', input: { channel_ids } };
      const outcome = await table.attempt('tRPC socket', 'owner', attempt);
      expect(outcome).toEqual({ status: 403, code: 'forbidden' });
    }
  });

  it('of a webhook with the token of another webhook posts nothing', async () => {
    const other = await setStageOf(server, people, 'standard');
    const before = [await snapshots.take(ours), await snapshots.take(other)];
    const path = `/channels/webhooks/${ours.webhook.id}/${other.webhook.token}`;
    expect((await call(`POST ${path}`, { content: 'x' }, 'signedOut')).status).toBe(401);
    expect([await snapshots.take(ours), await snapshots.take(other)]).toEqual(before);
  });

  it('of a user who is not in the group cannot get a role in it', async () => {
    const before = await snapshots.take(hidden);
    const path = `/channels/${hidden.channelId}`;
    const role = { user_id: people.stranger.id, role: 'manager' };
    expect((await call(`POST ${path}/members/role`, role, 'manager')).status).toBe(404);
    const removal = { user_ids: [people.stranger.id] };
    expect((await call(`POST ${path}/update/members/remove`, removal, 'manager')).body).toBe(0);
    expect(await snapshots.take(hidden)).toEqual(before);
  });

  it('of a group that the caller may not see adds no members', async () => {
    const staff = await call('POST /groups/create', { name: 'board', description: '' }, 'owner');
    await call(`POST /groups/id/${staff.body.id}/users/add`, { user_ids: [people.reader.id] }, 'owner');
    const sharing = { data: { config: { share: false } } };
    const { name, description } = staff.body;
    await call(`POST /groups/id/${staff.body.id}/update`, { name, description, ...sharing }, 'owner');
    const before = await snapshots.take(hidden);
    const body = { group_ids: [staff.body.id] };
    const path = `/channels/${hidden.channelId}/update/members/add`;
    expect((await call(`POST ${path}`, body, 'manager')).status).toBe(400);
    expect(await snapshots.take(hidden)).toEqual(before);
  });
});

describe('an id', () => {
  const NOWHERE = '018f0000-0000-7000-8000-000000000000';
  const ofChannel = ACTIONS.filter((action) => inputOf(action).id === SAMPLE.channelId);

  it.each(ofChannel)('of a missing channel, or a malformed one: $name', async (action) => {
    const input = { ...action.input({ ...SAMPLE, ...NOWHERE_STAGE }, people), id: NOWHERE };
    for (const name of DOOR_NAMES) {
      expect([name, await attempt(name, 'owner', action, input)]).toEqual([name, NOT_FOUND]);
      const wrong = await attempt(name, 'owner', action, { ...input, id: "1'--" });
      expect([name, wrong]).toEqual([name, NOT_FOUND]);
    }
  });

  const NOWHERE_STAGE = {
    othersId: NOWHERE,
    ownId: NOWHERE,
    leftId: NOWHERE,
    removedId: NOWHERE,
    webhook: { id: NOWHERE, token: 't' },
  };
});
