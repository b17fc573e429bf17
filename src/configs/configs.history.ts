import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { seconds } from '../core/wire.ts';
import { complete } from './configs.overrides.ts';
import { findHistory, listHistory } from './configs.repository.ts';
import type { ConfigScope } from './configs.service.ts';
import { maskSecrets } from './settings/configs.secrets.ts';
import { changedPaths, type Tree, valueAt } from './settings/configs.settings.ts';

export const ConfigurationChange = z
  .object({
    id: z.string(),
    revision: z.int(),
    /** `start`: the first entry of the history; `command`: the command line of the server. */
    origin: z.enum(['start', 'import', 'rollback', 'command']),
    /** Dotted paths of the changed settings. */
    changed: z.array(z.string()),
    created_at: seconds(),
    /** Null when no account made the change; the name is null when the account is deleted. */
    created_by: z.object({ id: z.string(), name: z.string().nullable() }).nullable(),
    /** Whether this configuration is in force. */
    is_current: z.boolean(),
    /** With `path`: its value after the change; secrets are masked. */
    value: z.unknown().optional(),
  })
  .meta({ id: 'ConfigurationChange' });

/**
 * The last 100 changes of the configuration, newest first: who changed which settings, and when.
 *
 * @param page.path only the changes of this setting, each with the value after the change
 */
export async function configurationHistory(
  { sql, configs }: ConfigScope,
  page: { path?: string | undefined; skip: number; limit: number },
): Promise<z.infer<typeof ConfigurationChange>[]> {
  const rows = await listHistory(sql, page);
  return rows.map(({ created_by, created_by_name, data, ...row }) => ({
    ...row,
    created_by: created_by === null ? null : { id: created_by, name: created_by_name },
    is_current: row.revision === configs.revision,
    ...(page.path !== undefined && data && { value: valueAt(shown(configs, data), page.path) ?? null }),
  }));
}

/** A stored configuration with the defaults of this version; secrets are masked. */
const shown = (configs: ConfigScope['configs'], data: Tree) => maskSecrets(complete(configs.open(data)));

export const ConfigurationComparison = z
  .object({ changes: z.array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown() })) })
  .meta({ id: 'ConfigurationComparison' });

/**
 * The differences between two entries of the history, or between one and the stored configuration; secrets are masked.
 *
 * @throws not_found
 */
export async function compareConfigurations(
  { sql, configs }: ConfigScope,
  { from_id, to_id }: { from_id: string; to_id?: string | undefined },
): Promise<z.infer<typeof ConfigurationComparison>> {
  const read = async (id: string) => {
    const data = await findHistory(sql, id);
    if (!data) throw new AppError('not_found', { detail: 'The history has no such entry.' });
    return complete(configs.open(data));
  };
  const before = await read(from_id);
  const after = to_id === undefined ? complete(configs.overrides) : await read(to_id);
  const [maskedBefore, maskedAfter] = [maskSecrets(before), maskSecrets(after)];
  const changes = changedPaths(before, after).map((path) => ({
    path,
    before: valueAt(maskedBefore, path) ?? null,
    after: valueAt(maskedAfter, path) ?? null,
  }));
  return { changes };
}
