import { z } from 'zod';
import { LIMITS, storableWithin } from '../core/wire.ts';
import type { Configuration, ConfigurationFault } from './settings/configs.schema.ts';
import { valueAt } from './settings/configs.settings.ts';

interface Kept {
  schema: z.ZodType;
  initial: unknown;
}

const flag: Kept = { schema: z.boolean(), initial: true };

/** Which parts of the interface clients show, by the names that clients use. */
export const Visibility = z.record(z.string(), z.boolean()).check(storableWithin(LIMITS.listedFormBytes));

/**
 * Optional members of the configuration. Clients of comparable systems read and replace them as members of a part. Imports keep
 * them unchanged, like all members that this service does not know.
 */
export const KEPT: Readonly<Record<string, Kept>> = {
  'users.enable_status': flag,
  'ui.visibility': { schema: Visibility, initial: {} },
};

/** The faults of stored values that no client could use. */
export function faultsOfKept(configuration: Configuration): ConfigurationFault[] {
  return Object.entries(KEPT).flatMap(([path, { schema }]) => {
    const [issue] = schema.optional().safeParse(valueAt(configuration, path)).error?.issues ?? [];
    return issue ? [{ path, message: issue.message }] : [];
  });
}

/** Whether people may set a status. */
export const isStatusEnabled = (configuration: Configuration): boolean =>
  valueAt(configuration, 'users.enable_status') !== false;

/** Which parts of the interface are shown; an unusable value counts as missing. */
export const visibilityOf = (configuration: Configuration): z.infer<typeof Visibility> =>
  Visibility.safeParse(valueAt(configuration, 'ui.visibility')).data ?? {};
