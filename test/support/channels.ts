import type { Person, TestServer } from './server.ts';

export type Grant = ReturnType<typeof grant>;

/** A grant to read or write, for a user or `*`, or for a group. */
export const grant = (
  principal_id: string,
  permission: 'read' | 'write',
  principal_type: 'user' | 'group' = 'user',
) => ({ principal_type, principal_id, permission });

/** Makes a standard channel of an owner with these grants. @returns its id */
export async function makeChannel(
  server: Pick<TestServer, 'as'>,
  owner: Person,
  ...access_grants: Grant[]
): Promise<string> {
  const { status, body } = await server.as(owner)('POST /channels/create', {
    name: 'general',
    access_grants,
  });
  if (status !== 200) throw new Error(`The channel was refused with ${status}: ${JSON.stringify(body)}`);
  return body.id;
}
