import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { isDangling, type Refusal } from '../database/violations.ts';
import { listPeopleOf, listShareable } from '../groups/groups.repository.ts';
import { MISSING } from './members.repository.ts';
import { MAX_MEMBERS } from './members.schema.ts';

/** The maximum of ids in an error text. */
const NAMED = 5;
const naming = (ids: string[]) =>
  ids.slice(0, NAMED).join(', ') + (ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '');

/**
 * The ids of the named people and of the current members of the named groups, each once.
 *
 * @throws bad_request for people who do not exist, and for groups that the caller may not see
 */
export async function resolvePeople(
  { sql, actor }: Scope,
  { user_ids, group_ids }: { user_ids: string[]; group_ids: string[] },
): Promise<string[]> {
  const asked = [...new Set(user_ids)];
  const missing = asked.length > 0 ? await sql.rows(MISSING, { userIds: asked }) : [];
  if (missing.length > 0) {
    const detail = `user_ids: there is no user ${naming(missing.map(({ id }) => id))}.`;
    throw new AppError('bad_request', { detail });
  }
  if (group_ids.length === 0) return asked;
  const known = new Set(await listShareable(sql, actor, group_ids));
  const unknown = group_ids.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw new AppError('bad_request', { detail: `group_ids: there is no group ${naming(unknown)}.` });
  }
  return [...new Set([...asked, ...(await listPeopleOf(sql, group_ids))])];
}

export const tooManyMembers = () =>
  new AppError('bad_request', {
    detail: `user_ids, group_ids: a group channel has at most ${MAX_MEMBERS} members.`,
  });

/** An account was deleted between the check and the write. */
export function refuseVanished(error: Refusal): never {
  if (!isDangling(error)) throw error;
  throw new AppError('bad_request', {
    detail: 'user_ids: one of the accounts has just been deleted.',
    cause: error,
  });
}
