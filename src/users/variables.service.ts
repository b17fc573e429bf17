import { AppError, invalid } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { describeUnstorable } from '../core/wire.ts';
import { READ, REPLACE, type Variables } from './variables.repository.ts';

const MAX_BYTES = 100_000;

/** The caller's prompt variables. */
export async function getVariables({ sql, actor }: Scope): Promise<Variables> {
  const [row] = await sql.rows(READ, { userId: actor.id });
  return row ?? { variables: {} };
}

/** Replaces all variables. @throws validation if they are too large together */
export async function replaceVariables(
  { sql, actor }: Scope,
  variables: Record<string, string>,
): Promise<Variables> {
  const message = describeUnstorable(variables, MAX_BYTES);
  if (message) throw invalid('variables', message);
  const [row] = await sql.rows(REPLACE, { userId: actor.id, variables: JSON.stringify(variables) });
  if (!row) throw new AppError('unauthenticated');
  return row;
}
