import { statement } from '../database/sql.ts';

export const COLUMNS = `id, created_at, actor_id, actor_email, credential, credential_id, ip, action, target_type, target_id,
  before, after`;

export const TYPES = 'uuid int uuid text text text text text text text jsonb jsonb'.split(' ');

/**
 * SQL that writes an entry if another part of the statement has a row, so that a hot change and its entry are one statement.
 *
 * @param first the number of the first of the parameters, which are those of `entryValues`
 * @param rows  the name of that part, which has one row at most: the entry has one id
 */
export const insertEntry = (first: number, rows: string): string =>
  `insert into audit_entry (${COLUMNS})
   select ${TYPES.map((type, index) => `$${first + index}::${type}`).join(', ')} from ${rows}`;

export const INSERT = statement(
  'audit.insert',
  `insert into audit_entry (${COLUMNS})
   select * from unnest(${TYPES.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`,
);
