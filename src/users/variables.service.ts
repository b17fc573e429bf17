import { AppError, invalid } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { describeUnstorable } from '../core/wire.ts';
import { statement } from '../database/sql.ts';

interface Variables {
  variables: Record<string, string>;
}

const MAX_BYTES = 100_000;

const READ = statement<Variables>('variables.read', 'select variables from users where id = $1');
const REPLACE = statement<Variables>(
  'variables.replace',
  'update users set variables = $2::jsonb where id = $1 returning variables',
);

/** The caller's texts for prompts. */
export async function getVariables({ sql, actor }: Scope): Promise<Variables> {
  const [row] = await sql.rows(READ, [actor.id]);
  return row ?? { variables: {} };
}

/** Replaces all of them. @throws validation when they are too large together */
export async function replaceVariables(
  { sql, actor }: Scope,
  variables: Record<string, string>,
): Promise<Variables> {
  const message = describeUnstorable(variables, MAX_BYTES);
  if (message) throw invalid('variables', message);
  const [row] = await sql.rows(REPLACE, [actor.id, JSON.stringify(variables)]);
  if (!row) throw new AppError('unauthenticated');
  return row;
}
