import type { Configuration } from './configs.schema.ts';
import { sections } from './configs.sections.ts';

/** Number of the configuration's schema; grows when an older export needs upgrading. */
export const CONFIG_VERSION = 1;

/** A new installation begins with this. */
export const DEFAULT_CONFIGURATION = {
  version: CONFIG_VERSION,
  ...Object.fromEntries(Object.entries(sections).map(([name, { defaults }]) => [name, defaults])),
} as Configuration;
