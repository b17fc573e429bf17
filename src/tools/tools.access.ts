import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import {
  type DescribedTool,
  describeTools,
  readTool,
  readToolInUse,
  readToolRights,
} from './tools.repository.ts';

export const noSuchTool = () => new AppError('not_found', { detail: 'There is no such tool.' });

/** Ids are stored in lower case. */
const stored = (id: string) => id.toLowerCase();

function admit<T extends { can_read: boolean; write_access: boolean }>(
  tool: T | undefined,
  right: 'read' | 'write',
): T {
  if (!tool) throw noSuchTool();
  if (!(right === 'read' ? tool.can_read : tool.write_access)) throw new AppError('tool_forbidden');
  return tool;
}

/**
 * The tool, when the caller has that right on it.
 *
 * @throws not_found, tool_forbidden
 */
export const requireTool = async ({ sql, actor }: Scope, id: string, right: 'read' | 'write') =>
  admit(await readTool(sql, actor, stored(id)), right);

/** As `requireTool`, for code that needs only the id of the tool: the source stays in the database. */
export const requireRight = async ({ sql, actor }: Scope, id: string, right: 'read' | 'write') =>
  admit(await readToolRights(sql, actor, stored(id)), right);

/** As `requireTool`, with the data for a call: source, version, valves. */
export const requireToolInUse = async ({ sql, actor }: Scope, id: string, right: 'read' | 'write') =>
  admit(await readToolInUse(sql, actor, stored(id)), right);

/** The functions of those of these tools that the caller may read, in the order of the ids, in one statement. */
export async function readableTools({ sql, actor }: Scope, ids: readonly string[]): Promise<DescribedTool[]> {
  const wanted = [...new Set(ids.map(stored))];
  if (wanted.length === 0) return [];
  const found = new Map((await describeTools(sql, actor, wanted)).map((tool) => [tool.id, tool]));
  return wanted.flatMap((id) => found.get(id) ?? []);
}
