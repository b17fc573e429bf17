import { access, constants, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import { secretsOf } from '../core/secrets/keys.ts';
import { migrating } from '../database/orm.ts';
import { dropForeignKeys, quote } from '../database/tables.ts';
import { type Env, StartError } from '../env.ts';
import { type ByteStore, FILE_NAME } from '../files/store/bytes.ts';
import { showProgress } from '../progress.ts';
import { type ArchiveEntry, ENTRY, FORMAT, Manifest, readArchive, Summary, type Tally } from './archive.ts';
import type { CommandContext } from './context.ts';
import { openTarget, type Target } from './restore.files.ts';
import { ownTables } from './sql.ts';
import { type Connection, connect, occupyAlone } from './workplace.ts';

/**
 * Replaces the data by an archive: the database in one transaction, then uploads and secret. The archive holds no sessions, so
 * all people sign in again. The tables of an older archive are brought up to date.
 *
 * @throws StartError when a server runs, when there are accounts and `--replace` was not given, and when the archive is
 * damaged or of a newer version; the database is then unchanged
 */
export async function restore(
  path: string,
  { replace = false }: { replace?: boolean },
  context: CommandContext,
): Promise<void> {
  const { env } = context;
  await requireArchive(path);
  const there = await listFolder(env.DATA_DIR);
  let isAlone = false;
  const onAlone = () => {
    isAlone = true;
  };
  try {
    await putInPlace(path, { replace, onAlone }, context);
  } catch (error) {
    // Otherwise a server may have made the new files.
    if (isAlone) await removeNew(env.DATA_DIR, there);
    throw error;
  }
}

/** The names in a folder; null when there is no such folder. */
const listFolder = (folder: string): Promise<string[] | null> => readdir(folder).catch(() => null);

/** Removes the files that a failed restore made, such as an embedded database and its password. */
async function removeNew(folder: string, there: string[] | null): Promise<void> {
  if (there === null) return rm(folder, { recursive: true, force: true });
  const fresh = (await listFolder(folder))?.filter((name) => !there.includes(name)) ?? [];
  await Promise.all(fresh.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

/** Checks the archive before a database is made or started. */
async function requireArchive(path: string): Promise<void> {
  await access(path, constants.R_OK).catch((cause: Error) => {
    throw new StartError(`The archive ${path} cannot be read: ${cause.message}.`, { cause });
  });
}

/** @param onAlone called when no server can run on the data folder and the database any more */
async function putInPlace(
  path: string,
  { replace, onAlone }: { replace: boolean; onAlone: () => void },
  { env, log, stdout }: CommandContext,
): Promise<void> {
  const connection = await connect(env, log, { alone: true });
  const tally: Tally = { rows: 0, files: 0 };
  const endProgress = showProgress(
    (seconds) => `${seconds} s: ${tally.rows} rows and ${tally.files} files so far.`,
  );
  try {
    // Held to the end: no server may start on incomplete data.
    const occupancy = await occupyAlone(connection, log);
    onAlone();
    let files: Target | undefined;
    try {
      files = await openTarget(env, replace);
      const { store } = files;
      const { secret, hasFiles, installation } = await keepingEmpty(connection, () =>
        load(connection, path, { env, files: store, replace, tally }),
      );
      await files.finish(installation, hasFiles);
      if (!env.SECRET_KEY) await writeSecret(join(env.DATA_DIR, 'secret.key'), secret);
      endProgress();
      stdout.write(
        `${tally.rows} rows and ${hasFiles ? tally.files : 'no'} files of ${path} are in place. All people have to sign in again.\n`,
      );
    } finally {
      await files?.close();
      await occupancy.release();
    }
  } finally {
    endProgress();
    await connection.close();
  }
}

/** The ORM creates its list of migrations outside the transaction. After a failure the list is removed if there was none before. */
async function keepingEmpty<T>({ orm }: Connection, task: () => Promise<T>): Promise<T> {
  const { em } = orm;
  const [before] = await em.execute<{ list: string | null }[]>(
    `select to_regclass('mikro_orm_migrations')::text as list`,
  );
  try {
    return await task();
  } catch (error) {
    if (!before?.list) await em.execute('drop table if exists mikro_orm_migrations');
    throw error;
  }
}

interface LoadOptions {
  env: Env;
  /** Gets the uploads. */
  files: ByteStore;
  replace: boolean;
  tally: Tally;
}

async function load(connection: Connection, path: string, { env, files, replace, tally }: LoadOptions) {
  const { orm } = connection;
  const known = [...(await orm.migrator.getExecuted()), ...(await orm.migrator.getPending())];
  const entries = readArchive(path);
  const manifest = await readAs(Manifest, path, await next(entries, path, ENTRY.manifest));
  const unknown = manifest.migrations.find((name) => !known.some((one) => one.name === name));
  if (manifest.format > FORMAT || unknown !== undefined) {
    throw new StartError(
      `The archive was made by version ${manifest.program}, which is newer. Update this program first.`,
    );
  }
  const secret = await (await next(entries, path, ENTRY.secret)).text();
  const missing = env.SECRET_KEY !== undefined && !includesAll(secretsOf(env.SECRET_KEY), secretsOf(secret));
  if (missing) {
    throw new StartError(
      'SECRET_KEY does not list the secret of the archive. Leave it out, or add the one that was in use.',
    );
  }
  return migrating(orm, async (em, up) => {
    await clear(em, manifest, replace);
    await up(manifest.migrations.at(-1) ?? 0);
    // The rows come table by table. Foreign keys would refuse that order.
    const addForeignKeys = await dropForeignKeys(em, null);
    await loadEntries(em, path, { entries, manifest, files, tally });
    for (const [sequence, last] of Object.entries(manifest.sequences)) {
      await em.execute(`select setval(to_regclass(?), ?) where to_regclass(?) is not null`, [
        quote(sequence),
        last,
        quote(sequence),
      ]);
    }
    await addForeignKeys();
    await up();
    // This is a new installation: the one of the backup may still run.
    const installation = uuidv7();
    await em.execute('update config set installation_id = ? where id = 1', [installation]);
    return { secret, hasFiles: manifest.has_files, installation };
  });
}

interface Loading {
  entries: AsyncGenerator<ArchiveEntry>;
  manifest: Manifest;
  files: ByteStore;
  tally: Tally;
}

/** Writes the rows and files of an archive. @throws StartError when their numbers differ from those in the last entry */
async function loadEntries(
  em: EntityManager,
  path: string,
  { entries, manifest, files, tally }: Loading,
): Promise<void> {
  const tables = new Map(manifest.tables.map(({ name, columns }) => [name, columns]));
  const rows: Summary['rows'] = Object.fromEntries([...tables.keys()].map((name) => [name, 0]));
  let summary: Summary | undefined;
  for await (const entry of entries) {
    const { name } = entry;
    if (name.startsWith(ENTRY.rows)) {
      const table = name.slice(ENTRY.rows.length).split('/')[0] ?? '';
      const columns = tables.get(table);
      if (!columns)
        throw new StartError(`The archive ${path} is damaged: it has no columns of the table ${table}.`);
      const count = await insertRows(em, table, columns, await entry.text());
      rows[table] = (rows[table] ?? 0) + count;
      tally.rows += count;
    } else if (name.startsWith(ENTRY.uploads)) {
      await writeUpload(files, name.slice(ENTRY.uploads.length), entry);
      tally.files += 1;
    } else if (name === ENTRY.summary) summary = await readAs(Summary, path, entry);
    else await entry.text();
  }
  if (!summary) throw new StartError(`The archive ${path} is cut short.`);
  if (!isSame(summary, { rows, files: tally.files }))
    throw new StartError(`The archive ${path} does not hold what it should.`);
}

const includesAll = (list: string[], wanted: string[]) => wanted.every((one) => list.includes(one));

const isSame = (one: Summary, other: Summary): boolean =>
  one.files === other.files &&
  Object.entries(one.rows).every(([table, count]) => other.rows[table] === count);

async function next(
  entries: AsyncGenerator<ArchiveEntry>,
  path: string,
  name: string,
): Promise<ArchiveEntry> {
  const { value } = await entries.next();
  if (value?.name !== name) throw new StartError(`The file ${path} is no backup of this program.`);
  return value;
}

async function readAs<T>(schema: z.ZodType<T>, path: string, entry: ArchiveEntry): Promise<T> {
  const json = await entry.text();
  try {
    return schema.parse(JSON.parse(json));
  } catch (cause) {
    throw new StartError(`The archive ${path} is damaged.`, { cause });
  }
}

/** Removes the tables of the service. @throws StartError when they hold accounts and may not be replaced */
async function clear(em: EntityManager, { tables }: Manifest, replace: boolean): Promise<void> {
  const [present] = await em.execute<{ users: string | null }[]>(
    `select to_regclass('users')::text as users`,
  );
  if (present?.users && !replace) {
    const [found] = await em.execute<{ found: boolean }[]>('select exists (select from users) as found');
    if (found?.found) {
      throw new StartError('The database holds accounts. Add --replace to put the archive in their place.');
    }
  }
  for (const name of new Set([...ownTables(em), ...tables.map((table) => table.name)])) {
    await em.execute(`drop table if exists ${quote(name)} cascade`);
  }
  await em.execute('delete from mikro_orm_migrations');
}

async function insertRows(
  em: EntityManager,
  table: string,
  columns: string[],
  rows: string,
): Promise<number> {
  const list = columns.map(quote).join(', ');
  const [inserted] = await em
    .execute<{ count: number }[]>(
      `with inserted as (
       insert into ${quote(table)} (${list}) overriding system value
       select ${list} from json_populate_recordset(null::${quote(table)}, ?::json) returning 1
     ) select count(*)::int as count from inserted`,
      [rows],
    )
    .catch((cause: Error) => {
      const [words = ''] = (cause.cause instanceof Error ? cause.cause : cause).message.split('\n').slice(-1);
      throw new StartError(
        `The archive cannot be loaded: rows of ${table} were refused (${words.slice(0, 200)}).`,
        { cause },
      );
    });
  return inserted?.count ?? 0;
}

/** Files whose names are no ids do not belong to the service. */
async function writeUpload(files: ByteStore, name: string, entry: ArchiveEntry): Promise<void> {
  if (FILE_NAME.test(name)) return files.put(name, entry.bytes());
  for await (const _ of entry.bytes());
}

async function writeSecret(path: string, secret: string): Promise<void> {
  const draft = `${path}.restored`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(secret);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}
