import { type Sql, statement } from '../../database/sql.ts';

/** The bytes that a row names. */
export interface StoredFile {
  id: string;
  size: number;
  /** Hex. */
  sha256: string;
}

const PAGE = 1_000;
const FIRST = '00000000-0000-0000-0000-000000000000';

const STORED = statement<StoredFile, { after: string; limit: number }>(
  'file.stored',
  'select id, size::float8 as size, sha256 from file where id > :after order by id limit :limit',
);

/** All files of all accounts, in pages: no connection is held between them. */
export async function* listStoredFiles(sql: Sql): AsyncGenerator<StoredFile> {
  let after = FIRST;
  for (;;) {
    const rows = await sql.rows(STORED, { after, limit: PAGE });
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}
