import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { requireModel } from '../models.access.ts';
import { bytesOf, changeModel, lockModel, putModel, transactionOn } from '../models.changes.ts';
import type { ModelView } from '../models.schema.ts';
import { viewChanged } from '../models.service.ts';
import * as repository from './versions.repository.ts';
import type { ModelVersionView } from './versions.schema.ts';

/** As in Open WebUI. */
const PAGE_ENTRIES = 20;

const noSuchVersion = () => new AppError('not_found', { detail: 'The model has no such version.' });

/** @throws model_not_found, forbidden */
export async function listVersions(
  scope: Scope,
  { id, page }: { id: string; page: number },
): Promise<ModelVersionView[]> {
  await requireModel(scope, id, 'write');
  const limit = PAGE_ENTRIES;
  return repository.listVersions(scope.sql, id, { skip: (page - 1) * limit, limit });
}

/** @throws not_found, also for versions of records that the caller may not change */
export async function getVersion(scope: Scope, versionId: string): Promise<ModelVersionView> {
  const found = await repository.readVersion(scope.sql, scope.actor, versionId);
  if (!found) throw noSuchVersion();
  return found;
}

/** Deletes a version that is not in force. @throws not_found, bad_request */
export async function deleteVersion(scope: Scope, versionId: string): Promise<true> {
  await getVersion(scope, versionId);
  if (!(await repository.removeVersion(scope.sql, versionId))) {
    throw new AppError('bad_request', { detail: 'The version is in force and cannot be deleted.' });
  }
  return true;
}

/**
 * Restores an earlier state as a new version.
 *
 * @throws model_not_found, forbidden, not_found, validation when the caller may not use its base, quota_exceeded
 */
export async function restoreVersion(
  scope: Scope,
  { id, version_id }: { id: string; version_id: string },
): Promise<ModelView> {
  const { user_id } = await requireModel(scope, id, 'write');
  const { snapshot, model_id } = await getVersion(scope, version_id);
  if (model_id !== id) throw noSuchVersion();
  await scope.quotas.store(user_id, bytesOf(snapshot));
  await transactionOn(scope, [id], async (tx) => {
    const row = await lockModel(tx, id);
    await changeModel(scope, tx, row, { change: () => putModel(scope, tx, row, { id, ...snapshot }) });
  });
  return viewChanged(scope, id);
}
