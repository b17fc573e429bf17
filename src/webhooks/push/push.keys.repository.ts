import { type Sql, statement } from '../../database/sql.ts';

const READ = statement<{ private_key: string }>('push.key', 'select private_key from push_key where id = 1');

/** The sealed private key; undefined before it is made. */
export async function readKey(sql: Sql): Promise<string | undefined> {
  const [row] = await sql.rows(READ);
  return row?.private_key;
}

const STORE = statement<never, { sealed: string; replaced: string; now: number }>(
  'push.key.store',
  `insert into push_key (id, private_key, created_at) values (1, :sealed, :now)
   on conflict (id) do update set private_key = excluded.private_key, created_at = excluded.created_at
    where push_key.private_key = :replaced`,
);

/**
 * Stores a sealed private key, unless another process has stored one meanwhile. @param replaced the key that it
 * replaces; empty for none
 *
 * @returns the stored key
 */
export async function storeKey(
  sql: Sql,
  { sealed, replaced, now }: { sealed: string; replaced: string; now: number },
): Promise<string> {
  await sql.rows(STORE, { sealed, replaced, now });
  return (await readKey(sql)) ?? sealed;
}
