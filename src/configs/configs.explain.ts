import { z } from 'zod';
import { seconds } from '../core/wire.ts';
import { isSet } from './configs.overrides.ts';
import { lastChange } from './configs.repository.ts';
import type { ConfigScope } from './configs.service.ts';
import { describeSetting } from './settings/configs.catalogue.ts';
import { DEFAULT_CONFIGURATION } from './settings/configs.defaults.ts';
import { ConfigurationFault } from './settings/configs.schema.ts';
import { maskSecrets } from './settings/configs.secrets.ts';
import { pathsOf, SETTINGS, valueAt } from './settings/configs.settings.ts';
import { schemaOfSetting } from './settings/configs.types.ts';

const SettingView = z
  .object({
    path: z.string(),
    /** In force now; secrets are masked. */
    value: z.unknown(),
    default: z.unknown(),
    /** `stored`: an administrator has set it; `environment`: a variable pins it; `default`: the default of the running version. */
    source: z.enum(['default', 'stored', 'environment']),
    /** When it was set; null for a default, a pinned setting, and a setting that was stored before times were recorded. */
    set_at: seconds().nullable(),
    /** The account that set it. */
    set_by: z.string().nullable(),
    /** The environment variable that pins it. */
    variable: z.string().nullable(),
    locked: z.boolean(),
    used_by: z.enum(['server', 'clients', 'nobody']),
    meaning: z.string(),
    schema: z
      .record(z.string(), z.unknown())
      .describe('JSON Schema of the value, for forms; empty for a setting that this version does not know'),
  })
  .meta({ id: 'Setting' });

export const ConfigurationExplained = z
  .object({
    revision: z.int(),
    updated_at: seconds(),
    updated_by: z.string().nullable(),
    /** Paths of the settings that environment variables pin. */
    locked: z.array(z.string()),
    settings: z.array(SettingView),
    /** Stored values that cannot be used: their defaults are in force. */
    faults: z.array(ConfigurationFault),
  })
  .meta({ id: 'ConfigurationExplained' });

type Explained = z.infer<typeof ConfigurationExplained>;

/** Every setting with its value, where the value comes from, and who uses it. Settings that this version does not know come last. */
export async function explainConfiguration({ sql, configs }: ConfigScope): Promise<Explained> {
  const { updated_at, updated_by, origins } = await lastChange(sql);
  const shown = maskSecrets(configs.current);
  const kept = pathsOf(shown).filter((path) => path !== 'version' && !isKnown(path));
  const settings = [...SETTINGS, ...kept].map((path) => {
    const pin = configs.pins.find((pinned) => pinned.path === path);
    const initial = valueAt(DEFAULT_CONFIGURATION, path);
    const isStored = !isKnown(path) || isSet(configs.overrides, path);
    const source = pin ? 'environment' : isStored ? 'stored' : 'default';
    const origin = source === 'stored' ? origins[path] : undefined;
    return {
      path,
      value: valueAt(shown, path) ?? null,
      default: initial ?? null,
      source: source as Explained['settings'][number]['source'],
      set_at: origin?.at ?? null,
      set_by: origin?.by ?? null,
      variable: pin?.variable ?? null,
      locked: pin !== undefined,
      ...describeSetting(path),
      schema: schemaOfSetting(path),
    };
  });
  const faults = [...configs.faults];
  const locked = configs.pins.map(({ path }) => path);
  return { revision: configs.revision, updated_at, updated_by, locked, settings, faults };
}

/** Whether a path is a setting of this version, or lies below one that is a free-form object. */
export const isKnown = (path: string) =>
  SETTINGS.some((setting) => path === setting || path.startsWith(`${setting}.`));
