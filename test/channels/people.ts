import { randomUUID } from 'node:crypto';
import { upload } from '../files/forms.ts';
import { grant } from '../support/channels.ts';
import { type Person, signUp, signUpAs, type TestServer } from '../support/server.ts';

/** The relations of people to a channel. */
export const RELATIONS = [
  'owner',
  'administrator',
  'writer',
  'reader',
  'author',
  'public',
  'stranger',
  'pending',
  'signedOut',
  'revoked',
] as const;
/**
 * Also `founder`, who made the channel and has no more rights than others now (except in a standard channel),
 * `manager` of a group, `insider`, an administrator with a membership, and `left` and `removed`, who wrote
 * messages as members and then left or were removed.
 */
export const ALL_RELATIONS = [...RELATIONS, 'founder', 'manager', 'insider', 'left', 'removed'] as const;
export type Relation = (typeof ALL_RELATIONS)[number];

export type People = Record<Relation, Person>;

const NOBODY: Person = { id: '', email: '', token: '' };

/**
 * One person for each relation. `author` could write before, and may only read now; `public` reads by a grant
 * to everyone; `signedOut` has no credentials; `revoked` has the token of a session that was ended.
 */
export async function gather(server: TestServer): Promise<People> {
  const owner = await signUp(server, 'Owner');
  const as = (name: string, role: 'admin' | 'user' = 'user') => signUpAs(server, owner, name, role);
  const revoked = await as('Revoked');
  await server.call('POST /auths/signout', { token: revoked.token });
  return {
    owner,
    administrator: await as('Administrator', 'admin'),
    writer: await as('Writer'),
    reader: await as('Reader'),
    author: await as('Author'),
    public: await as('Public'),
    stranger: await as('Stranger'),
    pending: await signUp(server, 'Pending'),
    founder: await as('Founder'),
    manager: await as('Manager'),
    insider: await as('Insider', 'admin'),
    left: await as('Left'),
    removed: await as('Removed'),
    signedOut: NOBODY,
    revoked,
  };
}

/** The kinds of channels. `public` is a standard channel that everyone may read. */
export const KINDS = ['standard', 'public', 'group', 'dm'] as const;
export type Kind = (typeof KINDS)[number];

export interface Stage {
  channelId: string;
  /** A message of the manager. */
  othersId: string;
  /** A message of `author` with the file. */
  ownId: string;
  /** A message of `left`. */
  leftId: string;
  /** A message of `removed`. */
  removedId: string;
  /** An upload of `author`. */
  fileId: string;
  /** A webhook of the channel with its token; a direct channel has none. */
  webhook: { id: string; token: string };
}

const NO_WEBHOOK = { id: '018f0000-0000-7000-8000-00000000cafe', token: 'none' };

/**
 * Makes a channel where each person has their relation, with messages of the manager, of the author and of
 * former members.
 */
export const setStage = (server: TestServer, people: People, isPublic: boolean): Promise<Stage> =>
  setStageOf(server, people, isPublic ? 'public' : 'standard');

/** The same for a channel of a kind. */
export async function setStageOf(server: TestServer, people: People, kind: Kind): Promise<Stage> {
  const call = async (as: Relation, request: string, body: unknown) => {
    const answer = await server.call(request, { token: people[as].token, body });
    if (answer.status !== 200)
      throw new Error(`${request} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const set: Set = { server, people, call };
  if (kind === 'group') return setGroup(set);
  return kind === 'dm' ? setDirect(set) : setStandard(set, kind === 'public');
}

interface Set {
  server: TestServer;
  people: People;
  call: (as: Relation, request: string, body: unknown) => Promise<{ id: string } & Record<string, string>>;
}

/** Posts the messages of every channel, while all authors may write. */
async function speak({ server, people, call }: Set, channelId: string, inCharge: Relation) {
  const file = await upload(server, people.author, '{"a":"file"}', { filename: 'a.json' });
  const post = (as: Relation, data = {}) =>
    call(as, `POST /channels/${channelId}/messages/post`, { content: 'as it was', data });
  const files = [{ type: 'file', id: file.body.id }];
  return {
    channelId,
    fileId: file.body.id as string,
    othersId: (await post(inCharge)).id,
    ownId: (await post('author', { files })).id,
    leftId: (await post('left')).id,
    removedId: (await post('removed')).id,
  };
}

/** Makes a webhook as the manager. */
async function addWebhook({ call }: Set, channelId: string, as: Relation): Promise<Stage['webhook']> {
  const { id, token = '' } = await call(as, `POST /channels/${channelId}/webhooks/create`, { name: 'hook' });
  return { id, token };
}

/** `left` had a grant of their own, `removed` was in a group that had one. */
async function setStandard(set: Set, isPublic: boolean): Promise<Stage> {
  const { server, people, call } = set;
  const staff = await call('owner', 'POST /groups/create', {
    name: `staff ${randomUUID()}`,
    description: '',
  });
  await call('owner', `POST /groups/id/${staff.id}/users/add`, { user_ids: [people.removed.id] });
  const access_grants = [
    grant(people.manager.id, 'write'),
    grant(people.writer.id, 'write'),
    grant(people.reader.id, 'read'),
    grant(people.insider.id, 'read'),
    grant(people.revoked.id, 'write'),
    grant(people.pending.id, 'write'),
    { ...grant(staff.id, 'write'), principal_type: 'group' },
    ...(isPublic ? [grant('*', 'read')] : []),
  ];
  const [author, left] = [people.author.id, people.left.id];
  const while_in = [...access_grants, grant(author, 'write'), grant(left, 'write')];
  const { id } = await call('owner', 'POST /channels/create', { name: 'stage', access_grants: while_in });
  const stage = { ...(await speak(set, id, 'owner')), webhook: await addWebhook(set, id, 'owner') };
  const now = [...access_grants, grant(author, 'read')];
  await call('owner', `POST /channels/${id}/update`, { access_grants: now });
  await call('owner', `POST /groups/id/${staff.id}/users/remove`, { user_ids: [people.removed.id] });
  // The founder was an administrator when they made the channel.
  await server.database.query('update channel set user_id = $2 where id = $1', [id, people.founder.id]);
  return stage;
}

const MEMBERS = ['manager', 'writer', 'author', 'insider', 'left', 'removed', 'revoked'] as const;

async function setGroup(set: Set): Promise<Stage> {
  const { people, call } = set;
  const user_ids = MEMBERS.map((relation) => people[relation].id);
  const { id } = await call('founder', 'POST /channels/create', { name: 'stage', type: 'group', user_ids });
  const role = (as: Relation, whom: Relation, role: string) =>
    call(as, `POST /channels/${id}/members/role`, { user_id: people[whom].id, role });
  await role('founder', 'manager', 'manager');
  await role('manager', 'founder', 'member');
  const stage = { ...(await speak(set, id, 'manager')), webhook: await addWebhook(set, id, 'manager') };
  await call('left', `POST /channels/${id}/members/leave`, {});
  await call('manager', `POST /channels/${id}/update/members/remove`, { user_ids: [people.removed.id] });
  await leaveLyingAround(set, id, ['pending']);
  return stage;
}

/**
 * A direct channel is written to the database, since members cannot leave it, be removed from it, or make a
 * second one with the same people.
 */
async function setDirect(set: Set): Promise<Stage> {
  const { server, people } = set;
  const { query } = server.database;
  const [{ id } = { id: '' }] = await query<{ id: string }>(
    `insert into channel (id, user_id, type, name, created_at, updated_at)
     values (gen_random_uuid(), $1, 'dm', 'stage', 1, 1) returning id`,
    [people.founder.id],
  );
  await leaveLyingAround(set, id, [...MEMBERS, 'founder', 'pending']);
  const stage = { ...(await speak(set, id, 'manager')), webhook: NO_WEBHOOK };
  await query('delete from channel_member where channel_id = $1 and user_id = any($2)', [
    id,
    [people.left.id, people.removed.id],
  ]);
  return stage;
}

/** Inserts members that no endpoint would admit, and grants, which have no effect in such a channel. */
async function leaveLyingAround({ server, people }: Set, channelId: string, members: Relation[]) {
  const { query } = server.database;
  await query(
    'insert into channel_member (channel_id, user_id, joined_at) select $1, unnest($2::uuid[]), 1',
    [channelId, members.map((relation) => people[relation].id)],
  );
  await query(
    `insert into access_grant (id, resource_type, resource_id, principal_type, principal_id, permission, created_at)
     select gen_random_uuid(), 'channel', $1, 'user', unnest($2::text[]), 'write', 1`,
    [channelId, [people.reader.id, '*']],
  );
}
