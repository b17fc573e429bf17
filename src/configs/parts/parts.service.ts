import type { z } from 'zod';
import { NAMED_VARIABLES } from '../../env/settings.ts';
import { defaultOf } from '../configs.flat.ts';
import { KEPT } from '../configs.kept.ts';
import { type ConfigScope, changeSettings, exportConfiguration } from '../configs.service.ts';
import type { ConfigurationFault } from '../settings/configs.schema.ts';
import { valueAt } from '../settings/configs.settings.ts';

/** The setting of each member; most members have the name of the variable that pins the setting. */
const PATHS: Readonly<Record<string, string>> = {
  ...NAMED_VARIABLES,
  ENABLE_USER_STATUS: 'users.enable_status',
  PENDING_USER_OVERLAY_TITLE: 'ui.pending_user_overlay_title',
  PENDING_USER_OVERLAY_CONTENT: 'ui.pending_user_overlay_content',
  MODEL_ORDER_LIST: 'ui.model_order_list',
  DEFAULT_MODEL_METADATA: 'models.default_metadata',
  DEFAULT_MODEL_PARAMS: 'models.default_params',
  suggestions: 'ui.prompt_suggestions',
  banners: 'ui.banners',
  url: 'webhook_url',
  visibility: 'ui.visibility',
  OPENAI_API_CONFIGS: 'hosted_model_api.api_configs',
  OLLAMA_API_CONFIGS: 'local_model_server.api_configs',
};

const pathOf = (name: string) => PATHS[name] ?? name;

type Part = z.ZodObject;

/** A part in force, and its stored values that cannot be used. */
export type PartInForce<P extends Part> = z.output<P> & { faults?: ConfigurationFault[] };

/** A part of the configuration in force, with its faults if there are any; secrets are masked. */
export function readPart<P extends Part>(scope: ConfigScope, part: P): PartInForce<P> {
  const configuration = exportConfiguration(scope);
  const names = Object.keys(part.shape);
  const members = names.map((name) => {
    const path = pathOf(name);
    const isKept = path in KEPT && scope.configs.faults.some((fault) => fault.path === path);
    return [name, isKept ? defaultOf(path) : (valueAt(configuration, path) ?? defaultOf(path))];
  });
  const isWithin = (path: string, other: string) => path === other || path.startsWith(`${other}.`);
  const faults = scope.configs.faults.filter((fault) =>
    names.map(pathOf).some((path) => isWithin(path, fault.path) || isWithin(fault.path, path)),
  );
  return { ...Object.fromEntries(members), ...(faults.length > 0 && { faults }) } as PartInForce<P>;
}

/**
 * Replaces the sent members of a part. All other settings stay, also those that a concurrent import changes. A mask in place of a
 * secret keeps the stored one.
 *
 * @returns the part in force afterwards
 * @throws validation, config_locked
 */
export async function writePart<P extends Part>(
  scope: ConfigScope,
  part: P,
  sent: z.output<P>,
): Promise<PartInForce<P>> {
  const given = Object.entries(sent).filter(([name, value]) => name in part.shape && value !== undefined);
  await changeSettings(
    scope,
    given.map(([name, value]) => ({ path: pathOf(name), value })),
  );
  return readPart(scope, part);
}
