import { statement } from '../database/sql.ts';

/** The columns of an entry and their types. */
const COLUMNS = {
  id: 'uuid',
  created_at: 'int',
  actor_id: 'uuid',
  actor_email: 'text',
  credential: 'text',
  credential_id: 'text',
  ip: 'text',
  action: 'text',
  target_type: 'text',
  target_id: 'text',
  before: 'jsonb',
  after: 'jsonb',
};
export type Column = keyof typeof COLUMNS;
export const NAMES = Object.keys(COLUMNS) as Column[];

/** The parameters of `insertEntry`. */
export type EntryParams = { [Name in Column as `entry_${Name}`]: unknown };

/**
 * SQL that writes an entry if another part of the statement returns a row. A frequent change and its entry are then one statement.
 * Its parameters are `EntryParams`.
 *
 * @param rows  the name of that part. It returns at most one row, because the entry has one id
 */
export const insertEntry = (rows: string): string =>
  `insert into audit_entry (${NAMES.join(', ')})
   select ${NAMES.map((name) => `:entry_${name}::${COLUMNS[name]}`).join(', ')} from ${rows}`;

export const INSERT = statement<never, Record<Column, unknown[]>>(
  'audit.insert',
  `insert into audit_entry (${NAMES.join(', ')})
   select * from unnest(${NAMES.map((name) => `:${name}::${COLUMNS[name]}[]`).join(', ')})`,
);
