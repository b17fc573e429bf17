import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { type Person, signUp, signUpAs, startServer } from '../support/server.ts';

/*
 * Group channels stay consistent under sequential and concurrent changes of their members: an existing
 * channel has members and a manager, its log has no gaps, and a channel without members is deleted.
 */

const server = await startServer();
afterAll(() => server.close());
const admin = await signUp(server, 'Admin');

const PEOPLE = 4;
const who = fc.nat(PEOPLE - 1);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('add', 'remove'), by: who, whom: who }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('manager', 'member'), by: who, whom: who }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('leave'), by: who, whom: who }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('delete'), by: who, whom: who }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let round = 0;

it('a group channel always has a manager', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
      async (moments) => {
        round += 1;
        const people: Person[] = [];
        for (let n = 0; n < PEOPLE; n += 1) {
          people.push(await signUpAs(server, admin, `P${round}n${n}`, 'user'));
        }
        const [maker, ...others] = people as [Person, ...Person[]];
        const body = { type: 'group', name: 'group', user_ids: others.slice(1).map(({ id }) => id) };
        const { id } = (await server.call('POST /channels/create', { token: maker.token, body })).body;
        const dm = (await server.call(`GET /channels/users/${others[0]?.id}`, { token: maker.token })).body
          .id;

        const take = ({ act, by, whom }: Step) => {
          const { token = '' } = people[by] ?? {};
          const user_id = people[whom]?.id ?? '';
          const requests: Record<string, [string, object?]> = {
            add: [`POST /channels/${id}/update/members/add`, { user_ids: [user_id] }],
            remove: [`POST /channels/${id}/update/members/remove`, { user_ids: [user_id] }],
            leave: [`POST /channels/${id}/members/leave`],
          };
          if (act === 'delete') return server.call(`DELETE /users/${user_id}`, { token: admin.token });
          const role = { user_id, role: act };
          const [request, form] = requests[act] ?? [`POST /channels/${id}/members/role`, role];
          return server.call(request, { token, body: form });
        };
        for (const steps of moments) {
          const answers = await Promise.all(steps.map(take));
          for (const { status } of answers) expect(status).toBeLessThan(500);
          const rows = await server.database.query<{
            type: string;
            members: number;
            managers: number;
            gaps: number;
          }>(
            `select c.type, count(m.user_id)::int as members, count(*) filter (where m.role = 'manager')::int as managers,
                  (c.last_event - (select count(*) from channel_event e where e.channel_id = c.id))::int as gaps
             from channel c left join channel_member m on m.channel_id = c.id
            where c.id = any($1) group by c.id`,
            [[id, dm]],
          );
          for (const { type, members, managers, gaps } of rows) {
            expect(gaps).toBe(0);
            expect(members).toBeGreaterThan(0);
            if (type === 'group') expect(managers).toBeGreaterThan(0);
          }
        }
      },
    ),
    { numRuns: 12 },
  );
});
