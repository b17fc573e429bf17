import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { inspectSource } from '../install/packages.service.ts';
import { requireRight, requireTool } from '../tools.access.ts';
import type { ToolAccessView } from '../tools.schema.ts';
import {
  changeTool,
  getTool,
  putSource,
  requireAuthor,
  viewChanged,
  withWarnings,
} from '../tools.service.ts';
import * as repository from './versions.repository.ts';
import type { ToolVersionSource } from './versions.schema.ts';

/** The versions of a tool's source, the newest first. @throws not_found, tool_forbidden */
export async function listVersions(scope: Scope, toolId: string, paging: { skip: number; limit: number }) {
  const { id } = await requireRight(scope, toolId, 'write');
  return repository.listVersions(scope.sql, id, paging);
}

/** One version with its source. @throws not_found, tool_forbidden */
export async function getVersion(scope: Scope, toolId: string, version: number): Promise<ToolVersionSource> {
  const { id } = await requireRight(scope, toolId, 'write');
  const found = await repository.readVersion(scope.sql, id, version);
  if (!found) throw new AppError('not_found', { detail: `The tool has no version ${version}.` });
  return found;
}

/**
 * Restores an earlier source as a new version; does nothing when that source is current.
 *
 * @throws not_found, tool_forbidden, quota_exceeded, tool_invalid when it fails to load now,
 * python_unavailable
 */
export async function restoreVersion(scope: Scope, toolId: string, version: number): Promise<ToolAccessView> {
  const { content } = await getVersion(scope, toolId, version);
  requireAuthor(scope);
  const tool = await requireTool(scope, toolId, 'write');
  if (tool.content === content) return getTool(scope, tool.id);
  await scope.quotas.store(tool.user_id, Buffer.byteLength(content));
  const module = await inspectSource(scope, tool.id, content);
  await changeTool(scope, tool.id, async (row, tx) =>
    putSource(scope, tx, row, module, { restored_from: version }),
  );
  return { ...(await viewChanged(scope, tool.id)), ...withWarnings(module) };
}
