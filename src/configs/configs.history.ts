import { z } from 'zod';
import { seconds } from '../core/wire.ts';
import { listHistory } from './configs.repository.ts';
import type { ConfigScope } from './configs.service.ts';

export const ConfigurationChange = z
  .object({
    id: z.string(),
    revision: z.int(),
    /** `start`: what the history began with; `command`: the command line of the server. */
    origin: z.enum(['start', 'import', 'rollback', 'command']),
    /** Dotted paths of what it changed. */
    changed: z.array(z.string()),
    created_at: seconds(),
    /** Null when no account made the change; the name is null when the account is deleted. */
    created_by: z.object({ id: z.string(), name: z.string().nullable() }).nullable(),
    /** Whether it is the one in force. */
    is_current: z.boolean(),
  })
  .meta({ id: 'ConfigurationChange' });

/** Who changed the configuration when and where, newest first; the last 100 changes are kept. */
export async function configurationHistory(
  { sql, configs }: ConfigScope,
  page: { skip: number; limit: number },
): Promise<z.infer<typeof ConfigurationChange>[]> {
  const rows = await listHistory(sql, page);
  return rows.map(({ created_by, created_by_name, ...row }) => ({
    ...row,
    created_by: created_by === null ? null : { id: created_by, name: created_by_name },
    is_current: row.revision === configs.revision,
  }));
}
