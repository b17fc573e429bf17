import type { z } from 'zod';
import { DEFAULT_CONFIGURATION } from './configs.defaults.ts';
import { type ConfigScope, changeSettings, exportConfiguration } from './configs.service.ts';
import { valueAt } from './configs.settings.ts';
import { NAMED_VARIABLES } from './configs.variables.ts';

/** The setting that each member is; most members are called like the variable that pins theirs. */
const PATHS: Readonly<Record<string, string>> = {
  ...NAMED_VARIABLES,
  // These four are kept for clients; nothing here acts on them.
  ENABLE_MEMORIES: 'memories.enable',
  ENABLE_USER_STATUS: 'users.enable_status',
  PENDING_USER_OVERLAY_TITLE: 'ui.pending_user_overlay_title',
  PENDING_USER_OVERLAY_CONTENT: 'ui.pending_user_overlay_content',
  MODEL_ORDER_LIST: 'ui.model_order_list',
  DEFAULT_MODEL_METADATA: 'models.default_metadata',
  DEFAULT_MODEL_PARAMS: 'models.default_params',
  suggestions: 'ui.prompt_suggestions',
  banners: 'ui.banners',
  url: 'webhook_url',
};

/** Of the settings that the configuration need not hold. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  'memories.enable': true,
  'users.enable_status': true,
  'ui.pending_user_overlay_title': '',
  'ui.pending_user_overlay_content': '',
};

const pathOf = (name: string) => PATHS[name] ?? name;
const defaultOf = (path: string) => valueAt(DEFAULT_CONFIGURATION, path) ?? DEFAULTS[path] ?? null;

type Part = z.ZodObject;

/** A part of the configuration in force, secrets masked. */
export function readPart<P extends Part>(scope: ConfigScope, part: P): z.output<P> {
  const configuration = exportConfiguration(scope);
  const members = Object.keys(part.shape).map((name) => {
    const path = pathOf(name);
    return [name, valueAt(configuration, path) ?? defaultOf(path)];
  });
  return Object.fromEntries(members) as z.output<P>;
}

/** What was sent, in the form of the setting: null for what is always something stands for its default, and a number for its text. */
function settingOf(path: string, sent: unknown): unknown {
  const initial = defaultOf(path);
  if (sent === null) return initial;
  return typeof sent === 'number' && typeof initial === 'string' ? String(sent) : sent;
}

/**
 * Replaces what was sent of a part, and nothing else of the configuration, whatever is imported meanwhile. A mask in place of a
 * secret keeps the stored one.
 *
 * @returns the part in force then
 * @throws validation, config_locked
 */
export async function writePart<P extends Part>(
  scope: ConfigScope,
  part: P,
  sent: z.output<P>,
): Promise<z.output<P>> {
  const given = Object.entries(sent).filter(([, value]) => value !== undefined);
  await changeSettings(
    scope,
    given.map(([name, value]) => ({ path: pathOf(name), value: settingOf(pathOf(name), value) })),
  );
  return readPart(scope, part);
}
