import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { migrating } from '../database/orm.ts';
import { showProgress } from '../progress.ts';
import type { CommandContext } from './context.ts';
import { dropForeignKeys, quote } from './sql.ts';

import { connect, occupyAlone, requireTables } from './workplace.ts';

/** The tables that grow with messages. Their keys begin with the channel, and so does each condition of their hot statements. */
const TABLES = [
  'message',
  'message_file',
  'message_mention',
  'message_reaction',
  'message_temp_id',
  'channel_event',
];
const KEY = 'channel_id';

/**
 * Divides the tables of messages by the hash of their channel, all or nothing; into one part makes them ordinary tables again. Their rows
 * are copied, so it needs free disk for a second copy.
 *
 * @throws StartError while a server runs
 */
export async function partition(
  { into }: { into: number },
  { env, log, stdout }: CommandContext,
): Promise<void> {
  const connection = await connect(env, log, { alone: true });
  let copied = 0;
  const endProgress = showProgress((seconds) => `${seconds} s: ${copied} of ${TABLES.length} tables so far.`);
  try {
    await requireTables(connection);
    const occupancy = await occupyAlone(connection, log);
    try {
      await divideTables(connection.orm, into, () => {
        copied += 1;
      });
    } finally {
      await occupancy.release();
    }
    endProgress();
    stdout.write(`${TABLES.join(', ')}: ${into === 1 ? 'one table each' : `${into} parts each`}.\n`);
  } finally {
    endProgress();
    await connection.close();
  }
}

/** @param onTable called when the rows of a table are copied */
export const divideTables = (orm: MikroORM, parts: number, onTable: () => void): Promise<void> =>
  migrating(orm, async (em) => {
    const addForeignKeys = await dropForeignKeys(em, TABLES);
    for (const table of TABLES) {
      await divide(em, table, parts);
      onTable();
    }
    await addForeignKeys();
    await em.execute(`analyze ${TABLES.join(', ')}`);
  });

/** Puts a table with the same rows, keys and indexes in the place of another, divided into parts. */
async function divide(em: EntityManager, table: string, parts: number): Promise<void> {
  const list = async (select: string): Promise<string[]> =>
    (await em.execute<{ text: string }[]>(select)).map(({ text }) => text);
  const id = `'${table}'::regclass`;
  const columns = await list(
    `select quote_ident(attname) as text from pg_attribute
      where attrelid = ${id} and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
  );
  const keys = await list(
    `select format('add constraint %I %s', conname, pg_get_constraintdef(oid)) as text from pg_constraint
      where conrelid = ${id} and contype in ('p', 'u') order by oid`,
  );
  const indexes = await list(
    `select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as text from pg_index i
      where indrelid = ${id} and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
  );
  // A divided table has no options of its own: its parts have them.
  const [options] = await list(
    `select 'with (' || array_to_string(reloptions, ', ') || ')' as text from pg_class
      where oid in (${id}, (select min(inhrelid) from pg_inherits where inhparent = ${id})) and reloptions is not null`,
  );
  const next = `${table}_next`;
  const form = `(like ${quote(table)} including all excluding indexes)`;
  if (parts === 1) await em.execute(`create table ${quote(next)} ${form} ${options ?? ''}`);
  else {
    await em.execute(`create table ${quote(next)} ${form} partition by hash (${KEY})`);
    for (let n = 0; n < parts; n += 1)
      await em.execute(
        `create table ${quote(`${table}_part_${n}_of_${parts}`)} partition of ${quote(next)} for values with (modulus ${parts}, remainder ${n}) ${options ?? ''}`,
      );
  }
  const names = columns.join(', ');
  await em.execute(`insert into ${quote(next)} (${names}) select ${names} from ${quote(table)}`);
  await em.execute(`drop table ${quote(table)}`);
  await em.execute(`alter table ${quote(next)} rename to ${quote(table)}`);
  for (const key of keys) await em.execute(`alter table ${quote(table)} ${key}`);
  for (const index of indexes) await em.execute(index);
}
