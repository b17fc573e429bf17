import type { Scope } from '../../core/scope.ts';
import { requireRight } from '../tools.access.ts';
import * as repository from './runs.repository.ts';

/** The runs of a tool, the newest first. @throws not_found, tool_forbidden */
export async function listRuns(scope: Scope, toolId: string, paging: { skip: number; limit: number }) {
  const { id } = await requireRight(scope, toolId, 'write');
  // The caller sees its own latest run; runs of other processes follow within a second.
  await scope.toolRuns.flush();
  return repository.listRuns(scope.sql, id, paging);
}
