import { AppError } from '../core/errors.ts';
import { type Sql, statement } from '../database/sql.ts';

const MISSING = statement<{ id: string }>(
  'member.missing',
  'select id from unnest($1::uuid[]) as asked (id) where not exists (select from users u where u.id = asked.id)',
);

/** As many as a sentence should name. */
const NAMED = 5;
const naming = (ids: string[]) =>
  ids.slice(0, NAMED).join(', ') + (ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '');

/**
 * The ids of the people who were named, each once.
 *
 * @throws bad_request naming who does not exist
 */
export async function resolvePeople(
  sql: Sql,
  { user_ids, group_ids }: { user_ids: string[]; group_ids: string[] },
): Promise<string[]> {
  if (group_ids.length > 0) {
    throw new AppError('bad_request', { detail: `group_ids: there is no group ${naming(group_ids)}.` });
  }
  const asked = [...new Set(user_ids)];
  if (asked.length === 0) return [];
  const missing = await sql.rows(MISSING, [asked]);
  if (missing.length === 0) return asked;
  const detail = `user_ids: there is no user ${naming(missing.map(({ id }) => id))}.`;
  throw new AppError('bad_request', { detail });
}

/** PostgreSQL's code for a foreign key without its row. */
const FOREIGN_KEY_VIOLATION = '23503';

/** Somebody's account was deleted between our look at it and the write. */
export function refuseVanished(error: { code?: string }): never {
  if (error.code !== FOREIGN_KEY_VIOLATION) throw error;
  throw new AppError('bad_request', {
    detail: 'user_ids: one of the accounts has just been deleted.',
    cause: error,
  });
}
