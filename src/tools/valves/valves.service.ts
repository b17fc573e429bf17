import { record } from '../../audit/audit.record.ts';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { seal, unseal } from '../../core/secrets/seal.ts';
import { nowSeconds } from '../../core/time.ts';
import { transaction } from '../../database/transaction.ts';
import type { JsonSchema, ValvesKind } from '../../python/pool.ts';
import { requireReadyTool } from '../install/packages.service.ts';
import { requireToolInUse } from '../tools.access.ts';
import type { UsedTool } from '../tools.repository.ts';
import { type CallValves, withoutTexts } from './valves.mask.ts';
import {
  listSealedUserValves,
  storeUserValves,
  storeValves,
  type ValvesChange,
} from './valves.repository.ts';

declare module '../../core/secrets/keys.ts' {
  interface KeyPurposes {
    'tool-valves': true;
  }
}

type Values = Record<string, unknown>;

/** How often a change is retried when other changes of the same valves conflict with it. */
const ATTEMPTS = 10;

const SCHEMAS = { valves: 'valves_schema', user_valves: 'user_valves_schema' } as const;
/**
 * The right to set them. Valves of the tool hold its owner's secrets; each person who may use the tool has
 * settings of their own.
 */
const RIGHTS = { valves: 'write', user_valves: 'read' } as const;

/** A sealed text can be opened only in its own row. */
export const sealedForValves = (row: string) => ({ purpose: 'tool-valves', place: `tool:${row}` }) as const;

const placeOf = (scope: Scope, toolId: string, kind: ValvesKind) =>
  sealedForValves(kind === 'valves' ? toolId : `${toolId}:user:${scope.actor.id}`);

/**
 * The set values of the tool or of the caller; null when none were ever set.
 *
 * @throws unavailable when they were sealed with an unknown secret
 */
function openValves(scope: Scope, tool: UsedTool, kind: ValvesKind): Values | null {
  const sealed = tool[kind];
  if (sealed === null) return null;
  try {
    return JSON.parse(unseal(scope.secret, sealed, placeOf(scope, tool.id, kind)));
  } catch (cause) {
    const detail =
      'The stored valves cannot be read: SECRET_KEY is another one now. Bring it back, or set them anew.';
    throw new AppError('unavailable', { detail, cause });
  }
}

/**
 * The caller's valves of tools that the caller may read, by tool id; without those sealed with an unknown
 * secret.
 */
export async function listUserValves(scope: Scope): Promise<Record<string, Values>> {
  const sealed = await listSealedUserValves(scope.sql, scope.actor);
  const opened = sealed.flatMap(({ id, user_valves }) => {
    try {
      return [
        [id, JSON.parse(unseal(scope.secret, user_valves, placeOf(scope, id, 'user_valves')))] as const,
      ];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(opened);
}

/** @throws unavailable when they were sealed with an unknown secret */
export const openCallValves = (scope: Scope, tool: UsedTool): CallValves => ({
  valves: tool.valves_schema ? (openValves(scope, tool, 'valves') ?? undefined) : undefined,
  userValves: tool.user_valves_schema ? (openValves(scope, tool, 'user_valves') ?? undefined) : undefined,
});

/**
 * The set values. Values of the tool without their texts, for a caller that may only use the tool.
 *
 * @throws not_found, tool_forbidden
 */
export async function getValves(scope: Scope, toolId: string, kind: ValvesKind): Promise<Values> {
  const tool = await requireToolInUse(scope, toolId, 'read');
  const values = openValves(scope, tool, kind) ?? {};
  return kind === 'user_valves' || tool.write_access ? values : withoutTexts(values, tool.valves_schema);
}

/**
 * The settings as JSON schema; null when the tool has no such valves. The tool's methods for choices run as
 * the caller; when a method fails, its name stays.
 *
 * @throws not_found, tool_forbidden, tool_not_ready
 */
export async function getValvesSpec(
  scope: Scope,
  toolId: string,
  kind: ValvesKind,
): Promise<JsonSchema | null> {
  const tool = await requireReadyTool(scope, toolId, 'read');
  const schema = tool[SCHEMAS[kind]];
  if (!schema || !offersChoices(schema)) return schema;
  const { id, name, email, role } = scope.actor;
  const user = { id, name, email, role };
  try {
    return await scope.python.describeValves({ tool, which: kind, user, signal: scope.signal });
  } catch (error) {
    if (error instanceof AppError) return schema;
    throw error;
  }
}

const offersChoices = (schema: JsonSchema): boolean =>
  Object.values((schema.properties ?? {}) as Record<string, { input?: { options?: unknown } } | null>).some(
    (property) => typeof property?.input?.options === 'string',
  );

/**
 * Sets some values and keeps the others; null resets a value to its default. The tool's own class checks and
 * converts the values. Returns all set values.
 *
 * @throws not_found (the tool, or it has no such valves), tool_forbidden, tool_not_ready, valves_invalid,
 * tool_timeout, python_unavailable
 */
export async function updateValves(
  scope: Scope,
  toolId: string,
  kind: ValvesKind,
  changes: Values,
): Promise<Values> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const tool = await requireReadyTool(scope, toolId, RIGHTS[kind]);
    if (!tool[SCHEMAS[kind]]) {
      const detail = `The tool has no class ${kind === 'valves' ? 'Valves' : 'UserValves'}.`;
      throw new AppError('not_found', { detail });
    }
    const merged = Object.entries({ ...reopen(scope, tool, kind), ...changes });
    const { values, ignored } = await scope.python.checkValves({
      tool,
      which: kind,
      values: Object.fromEntries(merged.filter(([, value]) => value !== null)),
      person: scope.actor.id,
      signal: scope.signal,
    });
    const to = seal(scope.secret, JSON.stringify(values), placeOf(scope, tool.id, kind));
    const change = { toolId: tool.id, version: tool.version, from: tool[kind], to };
    const isStored =
      kind === 'valves'
        ? await storeAudited(
            scope,
            change,
            Object.keys(changes).filter((name) => !ignored.includes(name)),
          )
        : await storeUserValves(scope.sql, change, scope.actor.id, nowSeconds());
    if (!isStored) continue;
    scope.reply.nameIgnored?.(ignored.filter((name) => Object.hasOwn(changes, name)));
    return values;
  }
  throw new AppError('unavailable', {
    detail: 'The valves are being changed by others at the same moment. Try again.',
  });
}

/**
 * Stores a tool's valves. The values are secrets, so the audit log holds only the names of the set members.
 */
const storeAudited = (scope: Scope, change: ValvesChange, set: string[]): Promise<boolean> =>
  transaction(scope, async (tx) => {
    if (!(await storeValves(tx, change))) return false;
    await record(scope, tx, {
      action: 'tool.valves',
      target: { type: 'tool', id: change.toolId },
      after: { set },
    });
    return true;
  });

/** Values that cannot be opened are replaced: otherwise the valves could never be set again. */
function reopen(scope: Scope, tool: UsedTool, kind: ValvesKind): Values | null {
  try {
    return openValves(scope, tool, kind);
  } catch {
    return null;
  }
}
