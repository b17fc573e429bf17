import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Person, signUp, signUpAs, startServer } from '../support/server.ts';

let second: Person;
let people = 0;

const server = await startServer();
afterAll(() => server.close());
const oldest = await signUp(server, 'Oldest');
beforeEach(async () => {
  second = await signUpAs(server, oldest, `Second${++people}`, 'admin');
});

const update = (by: Person, whom: Person, body: unknown) =>
  server.call(`POST /users/${whom.id}/update`, { token: by.token, body });
const remove = (by: Person, whom: Person) => server.call(`DELETE /users/${whom.id}`, { token: by.token });
const roleOf = async ({ id }: Person) =>
  (await server.database.query<{ role: string }>('select role from users where id = $1', [id]))[0]?.role;

describe('the oldest administrator', () => {
  it.each([
    { role: 'user' },
    { role: 'pending' },
    { password: 'taken over' },
    { email: 'x@example.com' },
    { name: 'x' },
  ])('cannot be changed by others: %j', async (change) => {
    const { status, body } = await update(second, oldest, change);
    expect([status, body.code]).toEqual([403, 'primary_admin']);
    expect((await server.call('GET /auths', { token: oldest.token })).body).toMatchObject({
      role: 'admin',
      email: oldest.email,
      name: 'Oldest',
    });
  });

  it('cannot be deleted by others', async () => {
    const { status, body } = await remove(second, oldest);
    expect([status, body.code]).toEqual([403, 'primary_admin']);
  });

  it('may change their own name', async () => {
    expect((await update(oldest, oldest, { name: 'Oldest' })).status).toBe(200);
  });
});

describe('an administrator', () => {
  it('may neither demote nor delete their own account, not even the oldest', async () => {
    for (const person of [oldest, second]) {
      for (const answer of [
        await update(person, person, { role: 'user' }),
        await update(person, person, { role: 'pending' }),
        await remove(person, person),
      ]) {
        expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
      }
      expect(await roleOf(person)).toBe('admin');
    }
  });

  it('may demote and delete others who are not the oldest', async () => {
    const third = await signUpAs(server, oldest, `Third${people}`, 'admin');
    expect((await update(second, third, { role: 'user' })).body.role).toBe('user');
    expect((await remove(second, third)).body).toBe(true);
  });

  it.each([
    ['demote', (by: Person, whom: Person) => update(by, whom, { role: 'user' })],
    ['delete', remove],
  ])('and another who %s each other at the same moment leave one of them', async (_what, act) => {
    for (let round = 0; round < 4; round++) {
      const one = await signUpAs(server, oldest, `One${++people}`, 'admin');
      const other = await signUpAs(server, oldest, `Other${people}`, 'admin');
      const answers = await Promise.all([act(one, other), act(other, one)]);
      const statuses = answers.map(({ status }) => status).toSorted();
      // The second request comes from a demoted account, or from an ended session.
      expect(statuses[0]).toBe(200);
      expect([401, 403]).toContain(statuses[1]);
      expect([await roleOf(one), await roleOf(other)].filter((role) => role === 'admin')).toHaveLength(1);
    }
  });
});
