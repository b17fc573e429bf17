import { type Person, signUp, signUpAs, type TestServer } from '../support/server.ts';

/** How somebody can stand to a channel. */
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
 * Those, somebody in charge who is no administrator, an administrator who was let in by name, and somebody who wrote when they
 * were in, and is out now.
 */
export const ALL_RELATIONS = [...RELATIONS, 'manager', 'insider', 'left'] as const;
export type Relation = (typeof ALL_RELATIONS)[number];

export type People = Record<Relation, Person>;

const NOBODY: Person = { id: '', email: '', token: '' };

/**
 * One person for each relation. `author` wrote when they had the right to, and may only read now; `public` reads by a grant to
 * everyone; `signedOut` has no credentials, `revoked` those of a session that was ended.
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
    manager: await as('Manager'),
    insider: await as('Insider', 'admin'),
    left: await as('Left'),
    signedOut: NOBODY,
    revoked,
  };
}

export const grant = (principal_id: string, permission: 'read' | 'write') => ({
  principal_type: 'user',
  principal_id,
  permission,
});

/** The kinds of channels. `public` is a standard channel that everyone may read. */
export const KINDS = ['standard', 'public', 'group', 'dm'] as const;
export type Kind = (typeof KINDS)[number];

export interface Stage {
  channelId: string;
  /** A message of whoever is in charge. */
  othersId: string;
  /** A message of `author`. */
  ownId: string;
  /** A message of `left`. */
  leftId: string;
}

/** A channel where everybody stands as their relation says, with messages of who is in charge, of the author and of who left. */
export const setStage = (server: TestServer, people: People, isPublic: boolean): Promise<Stage> =>
  setStageOf(server, people, isPublic ? 'public' : 'standard');

/** The same in a channel of a kind. */
export async function setStageOf(server: TestServer, people: People, kind: Kind): Promise<Stage> {
  const hasMembers = kind === 'group' || kind === 'dm';
  const channelId = await (hasMembers ? makeWithMembers(server, people, kind) : makeStandard(server, people));
  const post = async (person: Person) => {
    const body = { content: 'as it was' };
    const answer = await server.call(`POST /channels/${channelId}/messages/post`, {
      token: person.token,
      body,
    });
    return answer.body.id as string;
  };
  const stage = {
    channelId,
    othersId: await post(hasMembers ? people.manager : people.owner),
    ownId: await post(people.author),
    leftId: await post(people.left),
  };
  if (hasMembers) {
    const leave = 'delete from channel_member where channel_id = $1 and user_id = $2';
    await server.database.query(leave, [channelId, people.left.id]);
    return stage;
  }
  const access_grants = [
    ...grantsTo(people),
    grant(people.author.id, 'read'),
    ...(kind === 'public' ? [grant('*', 'read')] : []),
  ];
  const { token } = people.owner;
  await server.call(`POST /channels/${channelId}/update`, { token, body: { access_grants } });
  return stage;
}

const grantsTo = (people: People) => [
  grant(people.manager.id, 'write'),
  grant(people.writer.id, 'write'),
  grant(people.reader.id, 'read'),
  grant(people.insider.id, 'read'),
  grant(people.revoked.id, 'write'),
  grant(people.pending.id, 'write'),
];

async function makeStandard(server: TestServer, people: People): Promise<string> {
  const access_grants = [
    ...grantsTo(people),
    grant(people.author.id, 'write'),
    grant(people.left.id, 'write'),
  ];
  const { token } = people.owner;
  const body = { name: 'stage', access_grants };
  return (await server.call('POST /channels/create', { token, body })).body.id;
}

/** Only a group has somebody in charge. Grants that lie around give nobody a right to such a channel. */
async function makeWithMembers(
  { database: { query } }: TestServer,
  people: People,
  kind: Kind,
): Promise<string> {
  const [{ id } = { id: '' }] = await query<{ id: string }>(
    `insert into channel (id, user_id, type, name, created_at, updated_at)
     values (gen_random_uuid(), $1, $2, 'stage', 1, 1) returning id`,
    [people.manager.id, kind],
  );
  const members = ['manager', 'writer', 'author', 'insider', 'left', 'pending', 'revoked'] as const;
  for (const relation of members) {
    const role = kind === 'group' && relation === 'manager' ? 'manager' : null;
    await query('insert into channel_member (channel_id, user_id, role, joined_at) values ($1, $2, $3, 1)', [
      id,
      people[relation].id,
      role,
    ]);
  }
  for (const principal of [people.reader.id, '*']) {
    await query(
      `insert into access_grant (id, resource_type, resource_id, principal_type, principal_id, permission, created_at)
       values (gen_random_uuid(), 'channel', $1, 'user', $2, 'write', 1)`,
      [id, principal],
    );
  }
  return id;
}
