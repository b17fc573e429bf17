import { createHash } from 'node:crypto';
import type { OpenAI } from 'openai';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { FunctionSpec } from '../python/pool.ts';
import type { CompletionRequest } from './completions.types.ts';
import { pythonTools } from './tool.python.ts';
import type { SourceTool, ToolSource } from './tool.source.ts';

const SOURCES: readonly ToolSource[] = [pythonTools];

/** A function of a tool that the server runs, under the name that the model knows. */
export interface OfferedFunction {
  toolId: string;
  /** The name in its tool. */
  function: string;
  source: ToolSource;
}

/** The tools of one turn. */
export interface Offer {
  /** The member `tools` of a request to the provider. */
  tools: OpenAI.ChatCompletionFunctionTool[];
  /** Those that the server runs, by the names that the model knows. */
  served: ReadonlyMap<string, OfferedFunction>;
  /** The names of the caller's own tools. */
  own: ReadonlySet<string>;
  /** False when the model was to have tools and cannot call functions. */
  isPossible: boolean;
}

const LONGEST_NAME = 64;

/**
 * The tools that the model gets: those that the request names, otherwise those of the record of the model that the caller may read. A
 * caller with tools of its own gets only those that it names.
 *
 * @throws not_found for a tool that the request names and the caller may not use, endpoint_forbidden for one that its API key may not reach
 */
export async function offerTools(scope: Scope, request: CompletionRequest): Promise<Offer> {
  const { model, toolIds, params = {} } = request;
  const ids = toolIds ?? (params.tools ? [] : model.toolIds);
  const own = namesOf(params.tools);
  const offer = { tools: [], served: new Map<string, OfferedFunction>(), own, isPossible: true };
  if (ids.length === 0) return offer;
  if (!model.capabilities.tools) return { ...offer, isPossible: false };
  if (typeof params.n === 'number' && params.n > 1) {
    if (!toolIds) return offer;
    throw new AppError('bad_request', { detail: 'n: must be 1 where the server runs tools (tool_ids)' });
  }
  const listed = await Promise.all(
    SOURCES.map(async (source) => (await source.list(scope, ids)).map((tool) => ({ ...tool, source }))),
  );
  const found = listed.flat();
  if (toolIds) requireAll(toolIds, found);
  const reached: typeof found = [];
  for (const tool of found) if (await isReached(scope, tool, toolIds !== undefined)) reached.push(tool);
  return withNames(
    own,
    reached.flatMap(({ id, functions, source }) => functions.map((spec) => ({ toolId: id, spec, source }))),
  );
}

/** Whether the API key of the caller may call the tool. @throws endpoint_forbidden where the request names the tool */
async function isReached(
  scope: Scope,
  { id, source }: { id: string; source: ToolSource },
  isNamed: boolean,
): Promise<boolean> {
  if (scope.actor.keyId === null) return true;
  try {
    await scope.identify(source.reach(id));
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'endpoint_forbidden') throw error;
    if (!isNamed) return false;
    const detail = `The API key does not reach calls of the tool ${id}.`;
    throw new AppError(error.code, { detail, cause: error });
  }
}

function requireAll(ids: readonly string[], found: readonly SourceTool[]): void {
  const known = new Set(found.map(({ id }) => id));
  const missing = ids.find((id) => !known.has(id.toLowerCase()));
  if (missing === undefined) return;
  throw new AppError('not_found', {
    detail: `There is no tool ${missing.slice(0, LONGEST_NAME)} that you may use.`,
  });
}

function namesOf(tools: unknown): Set<string> {
  const names = Array.isArray(tools) ? tools.map((tool) => tool?.function?.name ?? tool?.custom?.name) : [];
  return new Set(names.filter((name) => typeof name === 'string'));
}

interface Candidate {
  toolId: string;
  spec: FunctionSpec;
  source: ToolSource;
}

/** Names functions as the closest existing system does (`peer-wire-2.md` 2.5): by their own names, with the id of the tool on collision. */
function withNames(own: ReadonlySet<string>, candidates: readonly Candidate[]): Offer {
  const served = new Map<string, OfferedFunction>();
  const tools: Offer['tools'] = [];
  for (const { toolId, spec, source } of candidates) {
    const isTaken = (name: string) => own.has(name) || served.has(name);
    const short = acceptable(spec.name);
    const name = isTaken(short) ? acceptable(`${toolId}_${spec.name}`) : short;
    if (isTaken(name)) continue;
    served.set(name, { toolId, function: spec.name, source });
    const { description, parameters } = spec;
    tools.push({ type: 'function', function: { name, description, parameters } });
  }
  return { tools, served, own, isPossible: true };
}

/** A name that providers accept. One that is too long ends with a part of its hash. */
function acceptable(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain.length <= LONGEST_NAME) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${plain.slice(0, LONGEST_NAME - 9)}_${hash}`;
}
