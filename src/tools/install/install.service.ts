import { record } from '../../audit/audit.record.ts';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import type { PackagesState } from '../../python/pool.ts';
import { requireToolInUse } from '../tools.access.ts';
import type { UsedTool } from '../tools.repository.ts';
import { changeTool, putSource, requireAuthor } from '../tools.service.ts';
import type { ToolInstall } from './install.schema.ts';
import { inspectSource, mayInstall } from './packages.service.ts';

/** The state of the packages of a tool. @throws not_found, tool_forbidden */
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
 * Installs the packages of a tool, also after a failure. Returns the state at once.
 *
 * @throws not_found, tool_forbidden, forbidden when the configuration does not allow it, tool_invalid,
 * python_unavailable
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
    // A changed source has started the installation of its own packages.
    if (row.content !== content) return;
    putSource(scope, tx, row, module);
    // Installed packages run with the tool, so the audit log shows its owner who requested them.
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
