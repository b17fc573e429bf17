import project from '../../package.json' with { type: 'json' };
import { openSql, runner, type Sql, statement } from '../database/sql.ts';
import { quote } from '../database/tables.ts';
import type { ByteStore } from '../files/store/bytes.ts';
import { openBytes } from '../files/store/open.ts';
import { showProgress } from '../progress.ts';
import { requireSecret } from '../secret.stored.ts';
import { loadSecret } from '../secret.ts';
import {
  type ArchiveWriter,
  ENTRY,
  FORMAT,
  FORMAT_WITH_FILES,
  type Manifest,
  type Summary,
  type Tally,
  writeArchive,
} from './archive.ts';
import type { CommandContext } from './context.ts';
import { ownTables } from './sql.ts';
import { type Connection, connect, requireTables } from './workplace.ts';

/** Sessions are left out: a session that was ended later must not become valid again. */
const LEFT_OUT = ['session'];

/** About how many bytes of a table are held in memory at once. */
const CHUNK_BYTES = 1024 * 1024;
const MOST_ROWS = 2_000;
const FIRST_ROWS = 20;

interface Client {
  query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

/**
 * Writes database, uploads and secret into one archive. All rows are from one snapshot. The bytes of each upload in the rows
 * exist: the server stores them before the row, and the backup copies them after the row.
 */
export async function backup(
  path: string,
  { withoutFiles = false }: { withoutFiles?: boolean },
  { env, log, stdout }: CommandContext,
): Promise<void> {
  const connection = await connect(env, log);
  const store = withoutFiles ? null : await openBytes(env);
  const tally: Tally = { rows: 0, files: 0 };
  const endProgress = showProgress(
    (seconds) => `${seconds} s: ${tally.rows} rows and ${tally.files} files so far.`,
  );
  try {
    await requireTables(connection);
    const secret = await loadSecret(env);
    await requireSecret(await openSql(connection.orm), secret);
    const pool = await connection.orm.em.getDriver().getConnection().getNativeClient();
    const client = await pool.connect();
    try {
      await client.query('begin isolation level repeatable read read only');
      await client.query('set local statement_timeout = 0');
      await client.query('set local idle_in_transaction_session_timeout = 0');
      await writeArchive(path, async (archive) => {
        const manifest = await describe(connection, runner(client), store !== null);
        await archive.add(ENTRY.manifest, JSON.stringify(manifest));
        await archive.add(ENTRY.secret, secret);
        const rows: Summary['rows'] = {};
        for (const table of manifest.tables) rows[table.name] = await addRows(archive, client, table, tally);
        const files = store ? await addFiles(archive, store, tally) : 0;
        await archive.add(ENTRY.summary, JSON.stringify({ rows, files } satisfies Summary));
      });
    } finally {
      // The connection is destroyed: other users of the pool must not get the settings of this transaction, which may have failed.
      client.release(true);
    }
    endProgress();
    stdout.write(
      `${path} holds ${tally.rows} rows and ${tally.files} files. It also holds the secret: keep it closed.\n`,
    );
  } finally {
    endProgress();
    store?.close();
    await connection.close();
  }
}

const TABLES = statement<Manifest['tables'][number], { names: string[] }>(
  'backup.tables',
  `select c.relname as name, json_agg(a.attname order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and c.relname = any (:names)
    group by c.relname order by c.relname`,
);
const SEQUENCES = statement<{ name: string; last: number }>(
  'backup.sequences',
  `select sequencename as name, last_value::float8 as last from pg_sequences
    where schemaname = current_schema() and last_value is not null and sequencename not like 'mikro_orm%'`,
);
const MIGRATIONS = statement<{ name: string }>(
  'backup.migrations',
  'select name from mikro_orm_migrations order by id',
);

async function describe({ orm }: Connection, sql: Sql, hasFiles: boolean): Promise<Manifest> {
  const own = ownTables(orm.em).filter((name) => !LEFT_OUT.includes(name));
  const tables = await sql.rows(TABLES, { names: own });
  const sequences = await sql.rows(SEQUENCES);
  const migrations = await sql.rows(MIGRATIONS);
  return {
    format: hasFiles ? FORMAT_WITH_FILES : FORMAT,
    has_files: hasFiles,
    program: project.version,
    made_at: new Date().toISOString(),
    migrations: migrations.map(({ name }) => name),
    tables,
    sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])),
  };
}

/** Adds a table as lists of rows in PostgreSQL's own JSON, so that JavaScript rounds no number. */
async function addRows(
  archive: ArchiveWriter,
  client: Client,
  { name, columns }: Manifest['tables'][number],
  tally: Tally,
): Promise<number> {
  const list = columns.map(quote).join(', ');
  await client.query(
    `declare rows no scroll cursor for select row_to_json(r)::text as row from (select ${list} from ${quote(name)}) r`,
  );
  let count = 0;
  let size = FIRST_ROWS;
  for (let chunk = 1; ; chunk += 1) {
    const { rows } = await client.query<{ row: string }>(`fetch ${size} from rows`);
    if (rows.length === 0) break;
    const content = Buffer.from(`[${rows.map(({ row }) => row).join(',')}]`);
    await archive.add(`${ENTRY.rows}${name}/${chunk}.json`, content);
    count += rows.length;
    tally.rows += rows.length;
    const average = Math.ceil(content.length / rows.length);
    size = Math.max(1, Math.min(MOST_ROWS, Math.floor(CHUNK_BYTES / average)));
  }
  await client.query('close rows');
  return count;
}

/** Adds the bytes of all files. Bytes that are removed meanwhile are left out: their row was removed too. */
async function addFiles(archive: ArchiveWriter, store: ByteStore, tally: Tally): Promise<number> {
  let count = 0;
  for await (const { id, size } of store.list()) {
    const name = ENTRY.uploads + id;
    if (size === 0) await archive.add(name, '');
    else {
      const bytes = await store.open(id);
      if (!bytes) continue;
      await archive.stream(name, size, bytes);
    }
    count += 1;
    tally.files += 1;
  }
  return count;
}
