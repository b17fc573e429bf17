import { afterAll, expect, it } from 'vitest';
import { signIn, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

const server = await startServer();
afterAll(() => server.close());
const [root, ann] = await signUpAll(server, 'Root', 'Ann');

const entries = (action: string) =>
  server.database.query<{ target_id: string; before: unknown; after: unknown }>(
    'select target_id, before, after from audit_entry where action = $1 order by id',
    [action],
  );
/** The number of statements that wrote entries during the work. */
async function writes(work: () => Promise<unknown>): Promise<number> {
  const statements = await recordStatements(work);
  return statements.filter((text) => text.includes('insert into audit_entry')).length;
}

it('ending all sessions of an account writes all entries in one statement', async () => {
  for (let more = 0; more < 4; more += 1) await signIn(server, ann);
  const { body: sessions } = await server.as(root)(`GET /users/${ann.id}/sessions`);
  expect(sessions).toHaveLength(5);
  const written = await writes(async () => {
    expect((await server.as(root)(`DELETE /users/${ann.id}/sessions`)).body).toEqual({ ended: 5 });
  });
  expect(written).toBe(1);
  const ended = await entries('session.end');
  expect(ended.map((entry) => entry.target_id).toSorted()).toEqual(
    sessions.map(({ id }: { id: string }) => id).toSorted(),
  );
  expect(ended.map((entry) => entry.before)).toContainEqual(expect.objectContaining({ user_id: ann.id }));
});

it('leaving many groups takes as few statements as leaving one, and each has an entry', async () => {
  const leaving = async (name: string, groups: number) => {
    const leaver = await signUpAs(server, root, name, 'user');
    const make = async (user_ids: string[]) => {
      const group = { type: 'group', name: `of ${name}`, user_ids };
      return (await server.as(leaver)('POST /channels/create', group)).body.id as string;
    };
    const passedOn: string[] = [];
    const deleted: string[] = [];
    for (let group = 0; group < groups; group += 1) {
      passedOn.push(await make([ann.id]));
      deleted.push(await make([]));
    }
    const written = await writes(() => server.as(root)(`DELETE /users/${leaver.id}`));
    return { written, passedOn, deleted };
  };
  const one = await leaving('Bob', 1);
  const many = await leaving('Cleo', 5);
  expect(many.written).toBe(one.written);
  const heirs = await entries('channel.role');
  expect(heirs.map((entry) => entry.target_id)).toEqual(
    expect.arrayContaining([...one.passedOn, ...many.passedOn]),
  );
  expect(heirs).toHaveLength(6);
  for (const { before, after } of heirs) {
    expect([before, after]).toEqual([
      { user_id: ann.id, role: null },
      { user_id: ann.id, role: 'manager' },
    ]);
  }
  expect((await entries('channel.delete')).map((entry) => entry.target_id).toSorted()).toEqual(
    [...one.deleted, ...many.deleted].toSorted(),
  );
});
