import { listProcedures, type Procedure } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { grant } from '../support/channels.ts';
import { NOWHERE, openDoors } from '../support/doors.ts';
import { type Person, signUpAll, type TestServer } from '../support/server.ts';

/**
 * Every procedure about one channel or one tool, as the router has them, and people who hold each right: what the sweeps of rights
 * are generated from, so that a new procedure cannot be forgotten.
 */

/** What procedures ask for besides the id. One that needs something else fails until it is named. */
export const SAMPLE = {
  message_id: NOWHERE,
  webhook_id: NOWHERE,
  user_id: NOWHERE,
  user_ids: [NOWHERE],
  content: 'x',
  name: 'x',
  role: 'member',
  level: 'all',
  is_pinned: true,
  is_active: true,
  is_channel_muted: true,
  typing: true,
  version: 1,
  version_id: '1',
  history_id: '1',
  from_id: '1',
  to_id: '1',
  function: 'x',
  arguments: {},
  meta: {},
  valves: {},
};

export const RIGHTS = ['none', 'read', 'write', 'manage'];
const NOUNS = { channel: '/api/channels/{id}', tool: '/api/tools/id/{id}' };
type Noun = keyof typeof NOUNS;

export interface Swept {
  procedure: Procedure;
  noun: Noun;
  right: string;
}

const procedures = listProcedures(appRouter);

export const swept: Swept[] = procedures.flatMap((procedure) => {
  const { meta } = procedure;
  const [noun = '', right = ''] = meta?.access.split('.') ?? [];
  const [path = ''] = meta?.reaches ?? (meta?.openapi ? [`/api${meta.openapi.path}`] : []);
  return noun in NOUNS && path.startsWith(NOUNS[noun as Noun])
    ? [{ procedure, noun: noun as Noun, right }]
    : [];
});

/** Procedures that declare a rule of their own, and are not about one channel or tool by its id. */
export const otherRules: Procedure[] = procedures.filter(
  (procedure) =>
    procedure.meta?.access !== procedure.meta?.level && !swept.some((one) => one.procedure === procedure),
);

export const NAMES = ['administrator', 'stranger', 'reader', 'writer', 'owner'] as const;
export type Name = (typeof NAMES)[number];

/** A server with one of each, at every door. The reader holds a grant, the writer is in a group that does. */
export async function peopleServer(server: TestServer) {
  const signedUp = await signUpAll(server, 'Root', 'Stranger', 'Reader', 'Writer', 'Owner');
  const people = Object.fromEntries(NAMES.map((name, i) => [name, signedUp[i]])) as Record<Name, Person>;
  const doors = Object.fromEntries(
    NAMES.map((name) => [name, openDoors(server.url, people[name].token)]),
  ) as Record<Name, ReturnType<typeof openDoors>>;
  const call = server.as(people.administrator);
  const { body: group } = await call('POST /groups/create', { name: 'writers', description: '' });
  await call(`POST /groups/id/${group.id}/users/add`, { user_ids: [people.writer.id] });
  const access_grants = [grant(people.reader.id, 'read'), grant(group.id, 'write', 'group')];

  /** A new one, which belongs to the owner and is granted to reader and writer. Returns its id. */
  async function makeTool(number: number): Promise<string> {
    const id = `dice_${number}`;
    await server.database.query(
      `insert into tool (id, user_id, name, content, meta, specs, created_at, updated_at)
       values ($1, $2, 'dice', '', '{"description": null, "manifest": {}}', '[]', 1, 1)`,
      [id, people.owner.id],
    );
    await call(`POST /tools/id/${id}/access/update`, { access_grants });
    return id;
  }

  return {
    people,
    makeTool,
    /** The statuses of a procedure about something, at every door, and how many doors that are. */
    async statusesOf(name: Name, { procedure }: Swept, id: string): Promise<number[]> {
      const outcomes = await doors[name].try(procedure, { ...SAMPLE, access_grants, id });
      return outcomes.map(({ status }) => status);
    },
    doors,
    async close() {
      for (const { close } of Object.values(doors)) close();
      await server.close();
    },
  };
}
