import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import type { Inspection, ToolSource } from '../../python/pool.ts';
import { requireToolInUse } from '../tools.access.ts';
import type { UsedTool } from '../tools.repository.ts';
import { type Waiting, widen } from './install.jobs.ts';

/**
 * The result of the load of a source. `isDescribed` is false when packages must be installed before the load.
 */
export interface Module extends Omit<Inspection, 'missing'> {
  requirements: string[];
  isDescribed: boolean;
}

export const mayInstall = ({ configs }: Pick<Scope, 'configs'>) =>
  configs.current.tools?.install_requirements ?? false;

/**
 * Loads a source in a process of its own. When packages are missing, the load waits for them; where
 * installing is not allowed, the source is loaded without them. The packages are the required ones, then
 * those that the imports imply.
 *
 * @throws tool_invalid with the reason, python_unavailable
 */
export async function inspectSource(scope: Scope, id: string, content: string): Promise<Module> {
  const { python, signal, toolJobs } = scope;
  const person = scope.actor.id;
  // One process finds the missing packages, and a second one loads the source with them. When the packages
  // are already known, one process is enough.
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
 * A tool that is ready for calls, with the folder of its packages. Restarts an interrupted job.
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
 * Installs the packages of a tool in the background, then reads its specification. Does nothing when the
 * configuration does not allow it.
 */
export function startInstallation(scope: Scope, tool: Waiting): void {
  if (mayInstall(scope)) scope.toolJobs.prepare(tool, scope.actor.id);
}
