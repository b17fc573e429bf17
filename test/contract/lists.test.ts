import { createTRPCUntypedClient, httpLink } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listOf } from '../../src/core/json/json.ts';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { openBoard } from '../channels/board.ts';

/* Long lists are not checked by a schema before they are sent, so all of them are checked here. */

const procedures = listProcedures(appRouter).filter(({ output }) => listOf(output));

/** The input for each list. */
const inputs: Record<string, Record<string, string>> = {
  'threads.list': {},
  'tools.export': {},
  'tools.list': {},
  'tools.listWithSources': {},
  'tools.runs': { id: 'adder' },
  'toolHistory.list': { id: 'adder' },
  'toolVersions.list': { id: 'adder' },
};

const board = await openBoard();
afterAll(() => board.close());

beforeAll(async () => {
  const id = await board.turnToNewChannel();
  const root = await fillChannel();
  inputs['messages.list'] = { id };
  inputs['messages.pinned'] = { id };
  inputs['messages.withFiles'] = { id };
  inputs['messages.thread'] = { id, message_id: root };
  await fillTools();
  await board.post({ content: 'with a file', data: { files: [{ id: await upload() }] } }, board.owner);
});

async function upload(): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob(['text']), 'notes.txt');
  const headers = { authorization: `Bearer ${board.owner.token}` };
  const answer = await fetch(`${board.server.url}/api/v1/files`, { method: 'POST', headers, body: form });
  return ((await answer.json()) as { id: string }).id;
}

/** One message of every kind: pinned, in a thread, and in the main line. */
async function fillChannel(): Promise<string> {
  const form = { data: { files: [] }, meta: { a: { b: [1] } } };
  const root = await board.post({ content: 'root', ...form }, board.owner);
  const reply = await board.post({ content: 'reply', parent_id: root.id, reply_to_id: root.id, ...form });
  await board.post({ content: 'quoting', reply_to_id: root.id });
  for (const message of [root, reply]) {
    await board.react(message.id, '👍');
    await board.pin(message.id);
  }
  const gone = await board.post({ content: 'gone' });
  await board.post({ content: 'x', parent_id: gone.id });
  await board.remove(gone.id);
  const program = await board.post({ content: 'by a program' });
  const { query } = board.server.database;
  await query("update message set author_type = 'webhook', author_id = gen_random_uuid() where id = $1", [
    program.id,
  ]);
  return root.id;
}

/** A tool as stored after Python has described it; once of the owner, once of a deleted user. */
async function fillTools(): Promise<void> {
  const { query } = board.server.database;
  const specs = [{ name: 'add', description: 'Adds', parameters: { type: 'object' }, returns: 'the sum' }];
  for (const [toolId, userId] of [
    ['adder', board.owner.id],
    ['orphan', '018f0000-0000-7000-8000-00000000000a'],
  ]) {
    await query(
      `insert into tool (id, user_id, name, content, meta, specs, user_valves_schema, created_at, updated_at)
       values ($1, $2, 'Adder', 'class Tools: pass', '{"description": null, "manifest": {"a": 1}}', $3, '{}', 1, 1)`,
      [toolId, userId, JSON.stringify(specs)],
    );
    for (const principal of [board.writer.id, '*']) {
      await query(
        `insert into access_grant (id, resource_type, resource_id, principal_type, principal_id, permission, created_at)
         values (gen_random_uuid(), 'tool', $1, 'user', $2, 'read', 1)`,
        [toolId, principal],
      );
    }
    await query(
      `insert into tool_run (id, tool_id, version, user_id, function, outcome, started_at, duration_ms, cpu_ms)
       values (gen_random_uuid(), 'adder', 1, $1, 'add', 'ok', 1, 0.5, 0.25)`,
      [userId],
    );
  }
  await query(
    `insert into tool_version (tool_id, version, user_id, content, restored_from, created_at)
     values ('adder', 1, $1, 'class Tools: pass', null, 1), ('adder', 2, gen_random_uuid(), 'x', 1, 2)`,
    [board.owner.id],
  );
}

/** A schema that refuses unknown members at every depth. */
function strict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.shape).map(([name, member]) => [name, strict(member as z.ZodType)]);
    return z.strictObject(Object.fromEntries(shape));
  }
  if (schema instanceof z.ZodArray) return z.array(strict(schema.element as z.ZodType));
  if (schema instanceof z.ZodNullable) return strict(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodOptional) return strict(schema.unwrap() as z.ZodType).optional();
  return schema;
}

describe('a list without an output check', () => {
  it('is tested below, for every such procedure', () => {
    expect(procedures.map(({ path }) => path).toSorted()).toEqual(Object.keys(inputs).toSorted());
  });

  it.each(procedures)('matches the view of $path at REST and tRPC, member by member', async (procedure) => {
    const { path, meta, output } = procedure;
    const input = inputs[path] ?? {};
    const address = meta?.openapi?.path.replaceAll(/\{(\w+)\}/g, (_, name) => input[name] ?? '');
    const rest = await board.server.call(`GET ${address}`, { token: board.owner.token });
    expect(rest.status).toBe(200);
    expect(rest.body.length).toBeGreaterThan(0);

    const headers = { authorization: `Bearer ${board.owner.token}` };
    const client = createTRPCUntypedClient({
      links: [httpLink({ url: `${board.server.url}/trpc`, headers })],
    });
    expect(await client.query(path, input)).toEqual(rest.body);
    const text = await (await fetch(`${board.server.url}/api/v1${address}`, { headers })).text();
    expect(text).toBe(JSON.stringify(rest.body));

    const shape = strict(listOf(output) as z.ZodType);
    expect(shape.safeParse(rest.body).error).toBeUndefined();
    expect(shape.safeParse([{ ...rest.body[0], secret: 1 }]).success).toBe(false);
  });
});
