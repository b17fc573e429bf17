import { LockMode } from '@mikro-orm/postgresql';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { CONFIG_VERSION } from './configs.defaults.ts';
import { ConfigRow } from './configs.entity.ts';
import type { Configuration } from './configs.schema.ts';

/** The whole configuration in force. */
export function exportConfiguration(scope: Scope): Configuration {
  return scope.configs.current;
}

/**
 * Replaces the whole configuration in one transaction; it is in force when this returns. Simultaneous imports queue on
 * the row, so each of them is stored whole and the last one stays.
 *
 * @throws config_newer when the object was exported by a newer version
 */
export async function importConfiguration(
  scope: Scope,
  configuration: Configuration,
): Promise<Configuration> {
  if (configuration.version > CONFIG_VERSION) {
    throw new AppError('config_newer', {
      detail: `The configuration has version ${configuration.version}; this server knows versions up to ${CONFIG_VERSION}. Update the server first.`,
    });
  }
  const stored = { ...configuration, version: CONFIG_VERSION };
  const revision = await scope.em.transactional(async (em) => {
    const row = await em.findOneOrFail(ConfigRow, 1, { lockMode: LockMode.PESSIMISTIC_WRITE });
    row.data = stored;
    row.revision += 1;
    row.updated_at = nowSeconds();
    row.updated_by = scope.actor.id;
    return row.revision;
  });
  scope.configs.adopt(stored, revision);
  return stored;
}
