import type { Configuration } from './configs.schema.ts';
import { sections } from './configs.sections.ts';

/** The version of the configuration's schema. It is raised when an older export needs an upgrade. */
export const CONFIG_VERSION = 1;

/** The configuration of a new installation. */
export const DEFAULT_CONFIGURATION = {
  version: CONFIG_VERSION,
  ...Object.fromEntries(Object.entries(sections).map(([name, { defaults }]) => [name, defaults])),
} as Configuration;
