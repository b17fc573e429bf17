import { afterAll, expect, it } from 'vitest';
import { upload } from '../files/forms.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { signIn, signUp, startServer } from '../support/server.ts';
import { run } from './run.ts';

const database = await createDatabase();
afterAll(() => database.drop());
const env = { DATABASE_URL: database.url };
const start = () => startServer({ database });

/** The columns, keys and indexes of all tables as PostgreSQL shows them; parts are left out. */
const describeTables = () =>
  withClient(database.url, async (client) => {
    const { rows } = await client.query(
      `select c.relname, c.reloptions, coalesce(p.partstrat, '-') as parts,
              (select json_agg(json_build_array(attname, format_type(atttypid, atttypmod), attnotnull) order by attnum)
                 from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
              (select json_agg(json_build_array(conname, pg_get_constraintdef(oid)) order by conname)
                 from pg_constraint where conrelid = c.oid and contype <> 'n' and conparentid = 0) as keys,
              (select json_agg(replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') order by indexrelid::regclass::text)
                 from pg_index where indrelid = c.oid) as indexes
         from pg_class c left join pg_partitioned_table p on p.partrelid = c.oid
        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
    );
    return rows;
  });

it('tables of messages are divided, keep their rows, and become whole again', async () => {
  const before = await describeTables();
  let server = await start();
  const ann = await signUp(server, 'Ann');
  const bob = await signUp(server, 'Bob');
  const { body: channel } = await server.as(ann)('POST /channels/create', { name: 'general' });
  const at = `/channels/${channel.id}/messages`;
  const file = (await upload(server, ann, 'some text')).body;
  const { body: root } = await server.as(ann)(`POST ${at}/post`, {
    content: `Hello <@U:${bob.id}>`,
    data: { files: [{ type: 'file', id: file.id }] },
    temp_id: 'one',
  });
  await server.as(ann)(`POST ${at}/post`, { content: 'A reply', parent_id: root.id });
  await server.as(ann)(`POST ${at}/${root.id}/reactions/add`, { name: '👍' });
  const read = async () => [
    (await server.as(ann)(`GET ${at}`)).body,
    (await server.as(ann)(`GET ${at}/${root.id}/thread`)).body,
    (await server.as(ann)('GET /channels/messages/search?q=hello')).body,
  ];
  const shown = await read();
  expect(shown[0]).toHaveLength(1);

  const early = await run(['partition', '--into', '4'], env);
  expect(early.code).not.toBe(0);
  expect(early.stderr).toContain('Another Parley process uses this database.');
  await server.close();

  expect(await run(['partition', '--into', '4'], env)).toMatchObject({
    stderr: '',
    stdout: expect.stringContaining('4 parts each'),
  });
  const divided = await describeTables();
  expect(divided.filter(({ parts }) => parts === 'h').map(({ relname }) => relname)).toEqual([
    'channel_event',
    'message',
    'message_file',
    'message_mention',
    'message_reaction',
    'message_temp_id',
  ]);
  const plain = (tables: typeof before) => tables.map(({ parts: _, reloptions: __, ...rest }) => rest);
  expect(plain(divided)).toEqual(plain(before));

  server = await start();
  await signIn(server, ann);
  expect(await read()).toEqual(shown);
  const { body: repeated } = await server.as(ann)(`POST ${at}/post`, { content: 'Again', temp_id: 'one' });
  expect(repeated.id).toBe(root.id);
  expect((await server.as(ann)(`DELETE /channels/${channel.id}/delete`)).status).toBe(200);
  await server.close();

  expect(await run(['partition', '--into', '1'], env)).toMatchObject({ code: 0 });
  expect(await describeTables()).toEqual(before);
});

it.each(['0', '1.5', 'many', '1025'])('refuses %s parts', async (into) => {
  expect(await run(['partition', '--into', into], env)).toMatchObject({ code: 2, stdout: '' });
});
