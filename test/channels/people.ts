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
export type Relation = (typeof RELATIONS)[number];

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
    signedOut: NOBODY,
    revoked,
  };
}

export const grant = (principal_id: string, permission: 'read' | 'write') => ({
  principal_type: 'user',
  principal_id,
  permission,
});

export interface Stage {
  channelId: string;
  /** A message of the owner. */
  othersId: string;
  /** A message of `author`. */
  ownId: string;
}

/** A channel where everybody stands as their relation says, with a message of the owner's and one of the author's. */
export async function setStage(server: TestServer, people: People, isPublic: boolean): Promise<Stage> {
  const { token } = people.owner;
  const grants = [
    grant(people.writer.id, 'write'),
    grant(people.reader.id, 'read'),
    grant(people.revoked.id, 'write'),
    grant(people.pending.id, 'write'),
    ...(isPublic ? [grant('*', 'read')] : []),
  ];
  const create = { name: 'stage', access_grants: [...grants, grant(people.author.id, 'write')] };
  const { id } = (await server.call('POST /channels/create', { token, body: create })).body;
  const post = async (person: Person) =>
    (
      await server.call(`POST /channels/${id}/messages/post`, {
        token: person.token,
        body: { content: 'as it was' },
      })
    ).body.id;
  const stage = { channelId: id, othersId: await post(people.owner), ownId: await post(people.author) };
  await server.call(`POST /channels/${id}/update`, {
    token,
    body: { access_grants: [...grants, grant(people.author.id, 'read')] },
  });
  return stage;
}
