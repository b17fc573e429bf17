import type { GrantInput } from '../access/access.schema.ts';
import { replaceGrants, revokeGrants } from '../access/access.service.ts';
import { record } from '../audit/audit.record.ts';
import { may } from '../configs/settings/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { Transaction } from '../database/transaction.ts';
import { requireModel } from './models.access.ts';
import {
  addModel,
  bytesOf,
  changeModel,
  lockModel,
  type ModelInput,
  putModel,
  transactionOn,
} from './models.changes.ts';
import { Model } from './models.entity.ts';
import { type ModelRow, readModel } from './models.repository.ts';
import { type ModelView, withPicture } from './models.schema.ts';
import { readCurrent } from './versions/versions.repository.ts';

type Sent = ModelInput & { access_grants?: GrantInput[] | null | undefined };

export const resource = (id: string) =>
  ({ type: 'model', id, publicSharing: 'sharing.public_models' }) as const;

const viewOf = ({ can_read: _read, ...view }: ModelRow): ModelView => withPicture(view);

/** A record; parameters only for callers who may change it. @throws model_not_found */
export const getModel = async (scope: Scope, id: string): Promise<ModelView> =>
  viewOf(await requireModel(scope, id, 'read'));

/** A record after a change by the caller, who may have lost the right to it by that. @throws model_not_found */
export async function viewChanged(scope: Scope, id: string): Promise<ModelView> {
  const row = await readModel(scope.sql, scope.actor, id);
  if (!row) throw new AppError('model_not_found');
  return viewOf(row);
}

/** @throws forbidden, id_taken, validation of the base, quota_exceeded */
export async function createModel(scope: Scope, input: Sent): Promise<ModelView> {
  if (!may(scope, 'workspace.models')) throw new AppError('forbidden');
  await scope.quotas.store(scope.actor.id, bytesOf(input));
  await transactionOn(scope, [input.id], async (tx) => {
    await addModel(scope, tx, input);
    await share(scope, tx, input);
  });
  return viewChanged(scope, input.id);
}

const share = async (scope: Scope, tx: Transaction, { id, access_grants }: Sent) => {
  if (access_grants) await replaceGrants(scope, tx, resource(id), access_grants);
};

/**
 * Replaces name, metadata and parameters; what is not sent of base, picture, state and grants stays.
 *
 * @throws model_not_found, forbidden, version_conflict, validation of the base, quota_exceeded
 */
export async function updateModel(
  scope: Scope,
  { version_id, ...input }: Sent & { version_id?: string | null | undefined },
): Promise<ModelView> {
  const { user_id } = await requireModel(scope, input.id, 'write');
  await scope.quotas.store(user_id, bytesOf(input));
  await transactionOn(scope, [input.id], async (tx) => {
    const row = await lockModel(tx, input.id);
    if (version_id && version_id !== (await readCurrent(tx, row.id)))
      throw new AppError('version_conflict', {
        detail: 'The model was changed in between. Load it again and repeat your change.',
      });
    await changeModel(scope, tx, row, {
      change: () => putModel(scope, tx, row, input),
      message: input.commit_message,
    });
    await share(scope, tx, input);
  });
  return viewChanged(scope, input.id);
}

/** Switches a record on or off. @throws model_not_found, forbidden */
export async function toggleModel(scope: Scope, id: string): Promise<ModelView> {
  await requireModel(scope, id, 'write');
  await transactionOn(scope, [id], async (tx) => {
    const row = await lockModel(tx, id);
    await changeModel(scope, tx, row, {
      change: () => {
        row.is_active = !row.is_active;
      },
    });
  });
  return viewChanged(scope, id);
}

/**
 * Replaces all grants. For a provider model without a record, an administrator makes one by this.
 *
 * @throws model_not_found, forbidden
 */
export async function updateModelAccess(
  scope: Scope,
  { id, name, access_grants }: { id: string; name?: string | null | undefined; access_grants: GrantInput[] },
): Promise<ModelView> {
  const row = await readModel(scope.sql, scope.actor, id);
  const provider = scope.actor.role === 'admin' && !row ? scope.providers.model(id) : undefined;
  if (!provider) await requireModel(scope, id, 'write');
  await transactionOn(scope, [id], async (tx) => {
    if (provider) await addModel(scope, tx, { id, name: name || provider.name, params: {}, meta: {} });
    else await lockModel(tx, id);
    await replaceGrants(scope, tx, resource(id), access_grants);
  });
  return viewChanged(scope, id);
}

/** Deletes a record with its versions and grants. @throws model_not_found, forbidden */
export async function deleteModel(scope: Scope, id: string): Promise<true> {
  const { name } = await requireModel(scope, id, 'write');
  await transactionOn(scope, [id], (tx) => removeModel(scope, tx, { id, name }));
  return true;
}

/** @param model is locked by its deletion first, as everywhere before its grants change */
export async function removeModel(
  scope: Scope,
  tx: Transaction,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const count = await tx.em.nativeDelete(Model, { id });
  await revokeGrants(tx, resource(id));
  const target = { type: 'model', id };
  // Of several concurrent deletions, only one records it.
  if (count > 0) await record(scope, tx, { action: 'model.delete', target, before: { name } });
}
