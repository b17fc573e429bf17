import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/postgresql';
import type { GrantInput } from '../access/access.schema.ts';
import { replaceGrants, revokeGrants } from '../access/access.service.ts';
import { may } from '../access/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { Tool } from './tools.entity.ts';
import { listTools as queryTools, readTool } from './tools.repository.ts';
import type { ToolAccessView, ToolView } from './tools.schema.ts';

export interface ToolInput {
  name: string;
  content: string;
  meta: { description?: string | null | undefined };
  access_grants?: GrantInput[] | null | undefined;
}

const noSuchTool = () => new AppError('not_found', { detail: 'There is no such tool.' });

const resource = (id: string) => ({ type: 'tool', id, publicSharing: 'sharing.public_tools' }) as const;

const mayAuthor = (scope: Scope) => may(scope, 'workspace.tools') || may(scope, 'workspace.tools_import');

/**
 * The tool, when the caller may do that with it.
 *
 * @throws not_found, tool_forbidden
 */
async function requireTool(scope: Scope, id: string, right: 'read' | 'write') {
  const tool = await readTool(scope.sql, scope.actor, id.toLowerCase());
  if (!tool) throw noSuchTool();
  if (!(right === 'read' ? tool.can_read : tool.write_access)) throw new AppError('tool_forbidden');
  return tool;
}

/**
 * An id as it is stored: lower-cased, so that two tools never differ in case alone.
 *
 * @throws id_invalid unless it holds ASCII letters, digits and underscores only
 */
function normaliseId(input: string): string {
  if (!/^[A-Za-z0-9_]+$/.test(input)) throw new AppError('id_invalid');
  return input.toLowerCase();
}

/**
 * Stores a tool after its module was loaded and described, in a process of its own.
 *
 * @throws tool_forbidden, id_invalid, id_taken, tool_invalid with the reason, python_unavailable
 */
export async function createTool(scope: Scope, input: ToolInput & { id: string }): Promise<ToolView> {
  // Nothing of a stranger's source is run before we know that they may have it run.
  if (!mayAuthor(scope)) throw new AppError('tool_forbidden');
  const id = normaliseId(input.id);
  if (await readTool(scope.sql, scope.actor, id)) throw new AppError('id_taken');
  const module = await scope.python.inspect({ id, content: input.content }, inspectOptions(scope));
  const now = nowSeconds();
  try {
    await scope.em.transactional(async (em) => {
      em.create(Tool, {
        id,
        user_id: scope.actor.id,
        name: input.name,
        content: module.content,
        meta: { description: input.meta.description ?? null, manifest: module.manifest },
        specs: module.specs,
        valves_schema: module.valves,
        user_valves_schema: module.user_valves,
        created_at: now,
        updated_at: now,
      });
      await em.flush();
      // Ids are chosen by people, so one may be used again: nothing that was left behind may apply to its new owner.
      await replaceGrants(scope, em, resource(id), input.access_grants ?? []);
    });
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) throw new AppError('id_taken', { cause: error });
    throw error;
  }
  return getTool(scope, id);
}

const inspectOptions = ({ signal }: Scope) => (signal ? { signal } : {});

/** The tools that the caller may read, the last changed first. */
export const listTools = (scope: Scope): Promise<ToolAccessView[]> => queryTools(scope.sql, scope.actor);

/** A tool; its source only for those who may change it. @throws not_found, tool_forbidden */
export async function getTool(scope: Scope, id: string): Promise<ToolAccessView> {
  const { can_read: _read, content, ...view } = await requireTool(scope, id, 'read');
  return view.write_access ? { ...view, content } : view;
}

/**
 * Changes a tool. New source needs the permission to author tools besides the right to write this one.
 *
 * @throws not_found, tool_forbidden, tool_invalid, python_unavailable
 */
export async function updateTool(scope: Scope, toolId: string, input: ToolInput): Promise<ToolAccessView> {
  const tool = await requireTool(scope, toolId, 'write');
  const isNewSource = input.content !== tool.content;
  if (isNewSource && !mayAuthor(scope)) throw new AppError('tool_forbidden');
  const module = isNewSource
    ? await scope.python.inspect({ id: tool.id, content: input.content }, inspectOptions(scope))
    : null;
  await scope.em.transactional(async (em) => {
    const row = await em.findOne(Tool, tool.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!row) throw noSuchTool();
    row.name = input.name;
    row.meta = {
      description: input.meta.description ?? null,
      manifest: module?.manifest ?? row.meta.manifest,
    };
    if (module) {
      row.content = module.content;
      row.specs = module.specs;
      row.valves_schema = module.valves;
      row.user_valves_schema = module.user_valves;
    }
    row.updated_at = nowSeconds();
    await em.flush();
    if (input.access_grants) await replaceGrants(scope, em, resource(tool.id), input.access_grants);
  });
  if (isNewSource) scope.python.evict(tool.id);
  return getTool(scope, tool.id);
}

/** Deletes a tool with its grants. @throws not_found, tool_forbidden */
export async function deleteTool(scope: Scope, toolId: string): Promise<{ result: true }> {
  const { id } = await requireTool(scope, toolId, 'write');
  await scope.em.transactional(async (em) => {
    // The row first, as everywhere: whoever holds its lock may touch its grants.
    await em.nativeDelete(Tool, { id });
    await revokeGrants(em, resource(id));
  });
  scope.python.evict(id);
  return { result: true };
}

export interface ToolCall {
  id: string;
  function: string;
  arguments: Record<string, unknown>;
}

export interface ToolResult {
  result: unknown;
  events: unknown[];
  duration_ms: number;
}

/**
 * Runs one function of a tool as the caller, on the source that is stored now.
 *
 * @throws not_found, tool_forbidden, arguments_invalid, tool_raised, tool_timeout, python_unavailable
 */
export async function callTool(scope: Scope, call: ToolCall): Promise<ToolResult> {
  const { id, content } = await requireTool(scope, call.id, 'read');
  const { id: userId, name, email, role } = scope.actor;
  return scope.python.call({
    tool: { id, content },
    function: call.function,
    arguments: call.arguments,
    user: { id: userId, name, email, role },
    ...inspectOptions(scope),
  });
}
