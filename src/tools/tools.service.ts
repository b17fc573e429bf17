import { LockMode } from '@mikro-orm/postgresql';
import type { GrantInput, GrantView } from '../access/access.schema.ts';
import { replaceGrants, revokeGrants } from '../access/access.service.ts';
import { record } from '../audit/audit.record.ts';
import { difference } from '../audit/audit.values.ts';
import { may } from '../configs/settings/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { LIMITS } from '../core/wire.ts';
import type { Sql } from '../database/sql.ts';
import { type Transaction, transaction } from '../database/transaction.ts';
import { inspectSource, type Module, startInstallation } from './install/packages.service.ts';
import { noSuchTool, requireRight, requireTool } from './tools.access.ts';
import { Tool, type ToolEntity, type ToolMeta } from './tools.entity.ts';
import type { NewTool } from './tools.repository.ts';
import * as repository from './tools.repository.ts';
import type { ToolAccessView, ToolMetaInput, ToolView } from './tools.schema.ts';
import { ToolVersion } from './versions/versions.entity.ts';
import { pruneVersions } from './versions/versions.repository.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** The source of a tool changed, or the tool was deleted: processes that have it loaded are obsolete. */
    'tool.changed': { id: string };
    /**
     * The grants of a tool changed, or it was deleted: callers with a running call may have lost their right.
     */
    'tool.shared': { id: string };
  }
}

/** The bound for each tool, so that a program that stores a source repeatedly does not fill the database. */
const KEPT_VERSIONS = { count: 1_000, bytes: 64 * LIMITS.toolContentBytes };

export interface ToolInput {
  name: string;
  content: string;
  meta: ToolMetaInput;
  access_grants?: GrantInput[] | null | undefined;
  commit_message?: string | null | undefined;
}

const resource = (id: string) => ({ type: 'tool', id, publicSharing: 'sharing.public_tools' }) as const;

/** Whether the caller may have tools of their own. */
export const mayCreate = (scope: Scope) =>
  may(scope, 'workspace.tools') || may(scope, 'workspace.tools_import');

/**
 * An id in its stored form: in lower case, so that two tools never differ in case alone.
 *
 * @throws id_invalid unless it holds ASCII letters, digits and underscores only
 */
function normaliseId(input: string): string {
  if (!/^[A-Za-z0-9_]+$/.test(input)) throw new AppError('id_invalid');
  return input.toLowerCase();
}

/** `meta` as it is stored: what the author sent, with the manifest of the source. */
function storedMeta(
  { description = null, i18n, manifest: _sent, has_user_valves: _made, ...others }: ToolMetaInput,
  manifest: ToolMeta['manifest'],
): ToolMeta {
  return { ...others, description, ...(i18n && { i18n }), manifest };
}

const bytesOf = (meta: object) => Buffer.byteLength(JSON.stringify(meta));

/** A tool that was loaded and described, and is not yet stored. */
type PreparedTool = NewTool & { version: 1; updated_at: number; warnings?: string[] };

/** As a member of an answer: left out when there are none. */
export const withWarnings = ({ warnings }: { warnings: string[] }) =>
  warnings.length > 0 ? { warnings } : {};

/**
 * Loads and describes the module of a tool in a process of its own, then stores the tool.
 *
 * @throws tool_forbidden, id_invalid, id_taken, tool_invalid with the reason, python_unavailable
 */
export async function createTool(scope: Scope, input: ToolInput & { id: string }): Promise<ToolView> {
  return storeTool(scope, await prepareTool(scope, input), input.access_grants ?? []);
}

/** The first half of `createTool`, which changes nothing. */
export async function prepareTool(
  scope: Scope,
  input: Omit<ToolInput, 'access_grants'> & { id: string },
): Promise<PreparedTool> {
  // Untrusted source is run only after this check.
  if (!mayCreate(scope)) throw new AppError('tool_forbidden');
  const id = normaliseId(input.id);
  if (await repository.readToolRights(scope.sql, scope.actor, id)) throw new AppError('id_taken');
  await scope.quotas.store(scope.actor.id, Buffer.byteLength(input.content) + bytesOf(input.meta));
  const module = await inspectSource(scope, id, input.content);
  const now = nowSeconds();
  return {
    id,
    user_id: scope.actor.id,
    name: input.name,
    content: module.content,
    meta: storedMeta(input.meta, module.manifest),
    specs: module.specs,
    valves_schema: module.valves,
    user_valves_schema: module.user_valves,
    requirements: module.requirements,
    is_described: module.isDescribed,
    commit_message: input.commit_message ?? null,
    created_at: now,
    updated_at: now,
    version: 1,
    ...withWarnings(module),
  };
}

/** The second half of `createTool`. @throws id_taken */
export async function storeTool(scope: Scope, tool: PreparedTool, grants: GrantInput[]): Promise<ToolView> {
  const target = { type: 'tool', id: tool.id };
  const insert = async (sql: Sql) => {
    const event = { action: 'tool.create', target, after: audited(tool) };
    if (!(await repository.insertTool(sql, tool, { scope, event }))) throw new AppError('id_taken');
  };
  let access_grants: GrantView[] = [];
  if (grants.length === 0) {
    await insert(scope.sql);
  } else {
    access_grants = await transaction(scope, async (tx) => {
      await insert(tx);
      return replaceGrants(scope, tx, resource(tool.id), grants);
    });
  }
  if (!tool.is_described) startInstallation(scope, tool);
  const meta = { ...tool.meta, has_user_valves: tool.user_valves_schema !== null };
  return { ...tool, meta, version_id: String(tool.version), access_grants };
}

/** The tools that the caller may read, the last changed first. */
export const listTools = (scope: Scope) => repository.listTools(scope.sql, scope.actor);

/** The same, with the source of tools that the caller may change. */
export const listToolsWithSources = (scope: Scope) => repository.listToolsWithSources(scope.sql, scope.actor);

/** All tools that the caller may read, for another server. @throws tool_forbidden */
export function exportTools(scope: Scope) {
  if (!may(scope, 'workspace.tools_export')) throw new AppError('tool_forbidden');
  return repository.exportTools(scope.sql, scope.actor);
}

/** A tool; its source only for callers with the right to change it. @throws not_found, tool_forbidden */
export const getTool = async (scope: Scope, id: string): Promise<ToolAccessView> =>
  viewOf(await requireTool(scope, id, 'read'));

/**
 * A tool after a change by the caller. The change may have removed the caller's own right; a stored change is
 * not refused afterwards.
 *
 * @throws not_found when the tool was deleted meanwhile
 */
export async function viewChanged(scope: Scope, id: string): Promise<ToolAccessView> {
  const tool = await repository.readTool(scope.sql, scope.actor, id);
  if (!tool) throw noSuchTool();
  return viewOf(tool);
}

const viewOf = ({ can_read: _read, content, ...view }: repository.ToolRow): ToolAccessView =>
  view.write_access ? { ...view, content } : view;

/**
 * Changes a tool. A new source requires the permission to author tools and the right to write this tool.
 *
 * @throws not_found, tool_forbidden, tool_invalid, version_conflict, python_unavailable
 */
export async function updateTool(
  scope: Scope,
  toolId: string,
  { version_id, ...input }: ToolInput & { version_id?: string | null | undefined },
): Promise<ToolAccessView> {
  const tool = await requireTool(scope, toolId, 'write');
  const isNewSource = input.content !== tool.content;
  if (isNewSource) requireAuthor(scope);
  const growth = Math.max(0, bytesOf(input.meta) - bytesOf(tool.meta));
  const added = growth + (isNewSource ? Buffer.byteLength(input.content) : 0);
  if (added > 0) await scope.quotas.store(tool.user_id, added);
  const module = isNewSource ? await inspectSource(scope, tool.id, input.content) : null;
  await changeTool(scope, tool.id, async (row, tx) => {
    if (version_id && version_id !== String(row.version)) throw versionConflict();
    row.name = input.name;
    row.meta = storedMeta(input.meta, row.meta.manifest);
    const commit_message = input.commit_message ?? null;
    if (module) putSource(scope, tx, row, module, { commit_message });
    await tx.em.flush();
    if (input.access_grants) await replaceGrants(scope, tx, resource(tool.id), input.access_grants);
  });
  if (input.access_grants) scope.bus.publish('tool.shared', { id: tool.id });
  return { ...(await viewChanged(scope, tool.id)), ...(module ? withWarnings(module) : {}) };
}

const versionConflict = () =>
  new AppError('version_conflict', {
    detail: 'The source of the tool was changed in between. Load it again and repeat your change.',
  });

/** Replaces all grants of a tool with those that the caller may give. @throws not_found, tool_forbidden */
export async function updateToolAccess(
  scope: Scope,
  toolId: string,
  grants: GrantInput[],
): Promise<ToolAccessView> {
  const { id } = await requireRight(scope, toolId, 'write');
  await changeTool(scope, id, async (_row, tx) => {
    await replaceGrants(scope, tx, resource(id), grants);
  });
  scope.bus.publish('tool.shared', { id });
  return viewChanged(scope, id);
}

/** A change of a tool's behaviour runs code on the server. @throws tool_forbidden */
export function requireAuthor(scope: Scope): void {
  if (!may(scope, 'workspace.tools')) throw new AppError('tool_forbidden');
}

/**
 * Changes the row of a tool under its lock, and notifies processes that have the source loaded when the
 * source changed.
 *
 * @throws not_found
 */
export async function changeTool(
  scope: Scope,
  id: string,
  change: (row: ToolEntity, tx: Transaction) => Promise<void>,
): Promise<void> {
  const { isNewSource, row } = await transaction(scope, async (tx) => {
    const row = await tx.em.findOne(Tool, id, {
      lockMode: LockMode.PESSIMISTIC_WRITE,
      populate: ['content'],
    });
    if (!row) throw noSuchTool();
    const before = audited(row);
    row.updated_at = nowSeconds();
    await change(row, tx);
    const changed = difference(before, audited(row));
    const isNewSource = row.version !== before.version;
    if (isNewSource) {
      await tx.em.flush();
      await pruneVersions(tx, id, KEPT_VERSIONS);
    }
    if (changed) {
      const action = isNewSource ? 'tool.content' : 'tool.update';
      await record(scope, tx, { action, target: { type: 'tool', id }, ...changed });
    }
    return { isNewSource, row };
  });
  if (isNewSource) scope.bus.publish('tool.changed', { id });
  if (!row.is_described) startInstallation(scope, row);
}

/** The data of a tool for the audit log; the versions hold the sources. */
function audited({ name, meta, version }: Pick<ToolEntity, 'name' | 'meta' | 'version'>) {
  const { description, manifest: _made, ...others } = meta;
  return { name, description, version, ...(Object.keys(others).length > 0 && { meta: others }) };
}

/** Puts a loaded source in the row, as a new version unless it is the current one. */
export function putSource(
  scope: Scope,
  tx: Transaction,
  row: ToolEntity,
  module: Module,
  version: { commit_message?: string | null; restored_from?: number | null } = {},
): void {
  row.meta = { ...row.meta, manifest: module.manifest };
  row.specs = module.specs;
  row.valves_schema = module.valves;
  row.user_valves_schema = module.user_valves;
  row.requirements = module.requirements;
  row.is_described = module.isDescribed;
  if (row.content === module.content) return;
  row.content = module.content;
  row.version += 1;
  const { content, updated_at: created_at } = row;
  tx.em.create(ToolVersion, {
    tool: row,
    version: row.version,
    user_id: scope.actor.id,
    content,
    restored_from: version.restored_from ?? null,
    commit_message: version.commit_message ?? null,
    created_at,
  });
}

/** Deletes a tool and all data that belongs to it. @throws not_found, tool_forbidden */
export async function deleteTool(scope: Scope, toolId: string): Promise<{ result: true }> {
  const { id, name } = await requireRight(scope, toolId, 'write');
  await transaction(scope, async (tx) => {
    // The row first, as everywhere: the holder of its lock may change its grants.
    const count = await tx.em.nativeDelete(Tool, { id });
    await revokeGrants(tx, resource(id));
    const target = { type: 'tool', id };
    // Of several concurrent deletions, only one records it.
    if (count > 0) await record(scope, tx, { action: 'tool.delete', target, before: { name } });
  });
  scope.bus.publish('tool.changed', { id });
  scope.bus.publish('tool.shared', { id });
  return { result: true };
}
