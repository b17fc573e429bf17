import { z } from 'zod';
import type { ConfigurationFault } from './configs.mend.ts';
import type { Configuration } from './configs.schema.ts';
import { valueAt } from './configs.settings.ts';

interface Kept {
  schema: z.ZodType;
  initial: unknown;
}

const flag: Kept = { schema: z.boolean(), initial: true };
const text: Kept = { schema: z.string().nullable(), initial: '' };

/**
 * Members that the configuration need not hold: clients of comparable systems read and replace them with a part of it. Imports keep
 * them as they come, as all that this service does not know. Of these, `users.enable_status` and the two texts of the overlay have
 * an effect.
 */
export const KEPT: Readonly<Record<string, Kept>> = {
  'memories.enable': flag,
  'users.enable_status': flag,
  'ui.pending_user_overlay_title': text,
  'ui.pending_user_overlay_content': text,
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
