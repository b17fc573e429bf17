import { listProcedures, type Procedure } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { grant } from '../support/channels.ts';
import { NOWHERE, openDoors } from '../support/doors.ts';
import { type Person, signUpAll, type TestServer } from '../support/server.ts';

/**
 * All procedures of the router about one channel or one tool, and users with each right. The tests of rights
 * are generated from these, so that a new procedure is tested too.
 */

/**
 * The parameters of procedures besides the id. A procedure that needs others fails until they are added here.
 */
export const SAMPLE = {
  message_id: NOWHERE,
  question_id: NOWHERE,
  answer: true,
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

/** Procedures with a rule of their own that concern no single channel or tool. */
export const otherRules: Procedure[] = procedures.filter(
  (procedure) =>
    procedure.meta?.access !== procedure.meta?.level && !swept.some((one) => one.procedure === procedure),
);

export const NAMES = ['administrator', 'stranger', 'reader', 'writer', 'owner'] as const;
export type Name = (typeof NAMES)[number];

/**
 * A server with one user of each name, with all doors. The reader has a grant; the writer is in a group with
 * a grant.
 */
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

  /** Makes a tool of the owner with grants to reader and writer. Returns its id. */
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
    /** The statuses of a procedure about this resource, one for each door. */
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
