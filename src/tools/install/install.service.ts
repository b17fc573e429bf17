import { record } from '../../audit/audit.record.ts';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import type { Inspection, PackagesState, ToolSource } from '../../python/pool.ts';
import { requireToolInUse } from '../tools.access.ts';
import type { UsedTool } from '../tools.repository.ts';
import { changeTool, putSource, requireAuthor } from '../tools.service.ts';
import { type Waiting, widen } from './install.jobs.ts';
import type { ToolInstall } from './install.schema.ts';

/** What is known of a source. `isDescribed` is false when its packages must be installed before it can be loaded. */
export interface Module extends Omit<Inspection, 'missing'> {
  requirements: string[];
  isDescribed: boolean;
}

const mayInstall = ({ configs }: Pick<Scope, 'configs'>) =>
  configs.current.tools?.install_requirements ?? false;

/**
 * Loads a source in a process of its own. With packages that are missing it is not loaded yet; where none may be installed, it
 * is loaded without them. Packages are those of its requirements, and then those that its imports imply.
 *
 * @throws tool_invalid with the reason, python_unavailable
 */
export async function inspectSource(scope: Scope, id: string, content: string): Promise<Module> {
  const { python, signal, toolJobs } = scope;
  const person = scope.actor.id;
  // A process shows what is missing, and another one loads the source with that: where it is known before, one is enough.
  const known = toolJobs.recall(content);
  const folder = known.length > 0 ? await python.packages.find(known) : undefined;
  let source: ToolSource = { id, content, packages: folder };
  let requirements = folder ? known : [];
  for (;;) {
    const options = { isStrict: true, installed: requirements, person, signal };
    const { missing, ...module } = await python.inspect(source, options);
    if (missing.length === 0) {
      if (requirements.length > 0) toolJobs.note(content, requirements);
      return { ...module, requirements, isDescribed: true };
    }
    const all = widen(requirements, missing);
    const packages = await python.packages.find(all);
    if (!packages && mayInstall(scope)) return { ...module, requirements: all, isDescribed: false };
    if (!packages) return loadWithout(scope, source, { requirements, missing });
    source = { ...source, packages };
    requirements = all;
  }
}

/** Loads a source although packages are missing and may not be installed. @throws as `inspectSource` */
async function loadWithout(
  { python, signal, actor }: Scope,
  source: ToolSource,
  { requirements, missing }: { requirements: string[]; missing: string[] },
): Promise<Module> {
  const lack = `The tool asks for ${missing.join(', ')}, and this server installs no packages (tools.install_requirements).`;
  try {
    const options = { installed: requirements, person: actor.id, signal };
    const { warnings, ...module } = await python.inspect(source, options);
    return { ...module, warnings: [lack, ...warnings], requirements, isDescribed: true };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'tool_invalid') throw error;
    throw new AppError('tool_invalid', { detail: `${error.message} ${lack}`, cause: error });
  }
}

/**
 * A tool that can be asked something, with the folder of its packages. A job that was cut off is begun anew.
 *
 * @throws not_found, tool_forbidden, tool_not_ready with the reason
 */
export async function requireReadyTool(
  scope: Scope,
  id: string,
  right: 'read' | 'write',
): Promise<UsedTool & { packages?: string }> {
  const tool = await requireToolInUse(scope, id, right);
  if (tool.requirements.length === 0) return tool;
  const packages = await scope.python.packages.find(tool.requirements);
  if (packages && tool.is_described) return { ...tool, packages };
  if (packages) {
    await scope.toolJobs.describe(tool, packages, scope.actor.id);
    return { ...(await requireToolInUse(scope, id, right)), packages };
  }
  const { state, detail } = await scope.python.packages.look(tool.requirements);
  if (state === 'failed') throw new AppError('tool_not_ready', { detail: failed(detail) });
  if (!mayInstall(scope)) throw new AppError('tool_not_ready', { detail: SWITCHED_OFF });
  startInstallation(scope, tool);
  const names = tool.requirements.join(', ');
  throw new AppError('tool_not_ready', {
    detail: `The packages of the tool (${names}) are being installed. Try again in a moment.`,
    retryAfterSeconds: 5,
  });
}

const SWITCHED_OFF =
  'The packages of the tool are not installed, and this server installs none (tools.install_requirements).';
const failed = (reason: string) => `The packages of the tool could not be installed: ${reason}`;

/**
 * Installs the packages of a tool in the background, and reads its specification when they are there. Nothing happens where the
 * configuration does not allow it.
 */
export function startInstallation(scope: Scope, tool: Waiting): void {
  if (mayInstall(scope)) scope.toolJobs.prepare(tool, scope.actor.id);
}

/** How it stands with the packages of a tool. @throws not_found, tool_forbidden */
export async function getInstallation(scope: Scope, id: string): Promise<ToolInstall> {
  const { packages } = scope.python;
  const tool = await requireToolInUse(scope, id, 'write');
  const { requirements } = tool;
  if (requirements.length === 0) {
    return {
      state: 'none',
      detail: 'The tool needs no packages but those of the server.',
      requirements,
      log: '',
    };
  }
  const log = await packages.log(requirements);
  return { ...(await stateOf(scope, tool)), requirements, log };
}

async function stateOf(scope: Scope, tool: UsedTool): Promise<PackagesState> {
  const { packages } = scope.python;
  const folder = tool.is_described ? undefined : await packages.find(tool.requirements);
  try {
    if (folder) await scope.toolJobs.describe(tool, folder, scope.actor.id);
    return await packages.look(tool.requirements);
  } catch (error) {
    if (error instanceof AppError && error.code === 'tool_not_ready') {
      const state = error.retryAfterSeconds === undefined ? 'failed' : 'installing';
      return { state, detail: error.message };
    }
    throw error;
  }
}

/**
 * Installs what a tool asks for now, again when that has failed. Returns at once with how it stands.
 *
 * @throws not_found, tool_forbidden, forbidden where the configuration does not allow it, tool_invalid, python_unavailable
 */
export async function installForTool(scope: Scope, toolId: string): Promise<ToolInstall> {
  const { id, content } = await requireToolInUse(scope, toolId, 'write');
  requireAuthor(scope);
  if (!mayInstall(scope)) {
    throw new AppError('forbidden', {
      detail:
        'This server installs no packages for tools. An administrator can allow it (tools.install_requirements).',
    });
  }
  const module = await inspectSource(scope, id, content);
  await changeTool(scope, id, async (row, tx) => {
    // Another source by now has seen to its own packages.
    if (row.content !== content) return;
    putSource(scope, tx, row, module);
    // What is installed for a tool runs with it: its owner can see who asked for that.
    if (row.user_id === scope.actor.id) return;
    await record(scope, tx, {
      action: 'tool.install',
      target: { type: 'tool', id },
      after: { requirements: module.requirements },
    });
  });
  if (module.isDescribed) return getInstallation(scope, id);
  const { requirements } = module;
  return { state: 'installing', detail: 'The packages are being installed.', requirements, log: '' };
}
