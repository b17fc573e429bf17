import { z } from 'zod';
import { LIMITS, storableWithin } from '../core/wire.ts';
import type { Configuration, ConfigurationFault } from './settings/configs.schema.ts';
import { valueAt } from './settings/configs.settings.ts';

interface Kept {
  schema: z.ZodType;
  initial: unknown;
}

const flag: Kept = { schema: z.boolean(), initial: true };

/** Which parts of the interface clients show, by names of their own. */
export const Visibility = z.record(z.string(), z.boolean()).check(storableWithin(LIMITS.listedFormBytes));

/**
 * Members that the configuration need not hold: clients of comparable systems read and replace them with a part of it. Imports keep
 * them as they come, as all that this service does not know.
 */
export const KEPT: Readonly<Record<string, Kept>> = {
  'users.enable_status': flag,
  'ui.visibility': { schema: Visibility, initial: {} },
};

/** Which of them no client could use. */
export function faultsOfKept(configuration: Configuration): ConfigurationFault[] {
  return Object.entries(KEPT).flatMap(([path, { schema }]) => {
    const [issue] = schema.optional().safeParse(valueAt(configuration, path)).error?.issues ?? [];
    return issue ? [{ path, message: issue.message }] : [];
  });
}

/** Whether people may say how they are just now. */
export const isStatusEnabled = (configuration: Configuration): boolean =>
  valueAt(configuration, 'users.enable_status') !== false;

/** Which parts of the interface are shown; an unusable value counts as none. */
export const visibilityOf = (configuration: Configuration): z.infer<typeof Visibility> =>
  Visibility.safeParse(valueAt(configuration, 'ui.visibility')).data ?? {};
