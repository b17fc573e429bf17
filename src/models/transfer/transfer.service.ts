import { replaceGrants } from '../../access/access.service.ts';
import { may } from '../../configs/settings/permissions.ts';
import { AppError, invalidMembers, sentence } from '../../core/errors.ts';
import { describeIssues } from '../../core/failure.ts';
import type { Scope } from '../../core/scope.ts';
import type { Transaction } from '../../database/transaction.ts';
import {
  addModel,
  bytesOf,
  changeModel,
  lockModel,
  type ModelInput,
  putModel,
  transactionOn,
} from '../models.changes.ts';
import { readModel } from '../models.repository.ts';
import type { ModelView } from '../models.schema.ts';
import { removeModel, resource } from '../models.service.ts';
import { listAll } from '../workspace/workspace.service.ts';
import * as repository from './transfer.repository.ts';
import {
  ImportedModel,
  type ModelExport,
  type ModelImport,
  SyncedModel,
  Unusable,
  withoutForeignPictures,
} from './transfer.schema.ts';

type Item = ModelImport['items'][number];

/**
 * The records that the caller may change, for another server.
 *
 * @throws forbidden, model_not_found when one of the ids is not among them
 */
export async function exportModels(scope: Scope, ids: string[] | undefined): Promise<ModelExport[]> {
  if (!may(scope, 'workspace.models_export')) throw new AppError('forbidden');
  const found = await repository.exportModels(scope.sql, scope.actor, ids ?? null);
  const missing = ids?.find((id) => !found.some((model) => model.id === id));
  if (missing !== undefined) throw new AppError('model_not_found');
  return found;
}

/**
 * Stores the models of an export one after the other. The caller owns new ones, and they are not shared. A stored record is changed
 * when the caller may do that: metadata is merged, parameters are replaced. An entry that cannot be stored is reported with the
 * reason; the others are stored.
 *
 * @throws forbidden
 */
export async function importModels(scope: Scope, entries: readonly unknown[]): Promise<ModelImport> {
  if (!may(scope, 'workspace.models_import')) throw new AppError('forbidden');
  const items: Item[] = [];
  for (const entry of entries) {
    // A caller that has gone does not read the outcome of the rest.
    scope.signal?.throwIfAborted();
    items.push(await importModel(scope, entry));
  }
  return { items };
}

async function importModel(scope: Scope, sent: unknown): Promise<Item> {
  const [entry, warnings] = withoutForeignPictures(sent);
  const parsed = ImportedModel.safeParse(entry);
  if (!parsed.success) {
    const reason = describeIssues(parsed.error).slice(0, 1).map(sentence).join();
    return { ...Unusable.parse(entry), outcome: 'refused', reason };
  }
  const { id, name } = parsed.data;
  try {
    await storeImported(scope, inputOf(parsed.data));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { id, name, outcome: 'refused', reason: error.message };
  }
  return { id, name, outcome: 'stored', reason: null, ...(warnings.length > 0 && { warnings }) };
}

/** @throws id_taken for a record that the caller may not change, and as `createModel` and `updateModel` do */
async function storeImported(scope: Scope, input: ModelInput): Promise<void> {
  const stored = await readModel(scope.sql, scope.actor, input.id);
  if (stored && !stored.write_access) throw new AppError('id_taken');
  await scope.quotas.store(stored?.user_id ?? scope.actor.id, bytesOf(input));
  await transactionOn(scope, [input.id], (tx) =>
    stored ? mergeModel(scope, tx, input) : addModel(scope, tx, input),
  );
}

async function mergeModel(scope: Scope, tx: Transaction, input: ModelInput): Promise<void> {
  const row = await lockModel(tx, input.id);
  const merged = { ...input, meta: { ...row.meta, ...input.meta } };
  await changeModel(scope, tx, row, { change: () => putModel(scope, tx, row, merged) });
}

/** An imported model has a base or none; a missing one keeps that of the stored record. */
const inputOf = ({ meta, params, is_active, ...rest }: ImportedModel): ModelInput => ({
  ...rest,
  meta: meta ?? {},
  params: params ?? {},
  is_active: is_active ?? undefined,
});

/**
 * Makes the records of the server those of the list: others are deleted. All or nothing.
 *
 * @throws validation naming the first wrong entry, and as `createModel` and `updateModel` do
 */
export async function syncModels(scope: Scope, entries: readonly unknown[]): Promise<ModelView[]> {
  const models = entries.map((entry, index) => {
    const parsed = SyncedModel.safeParse(withoutForeignPictures(entry)[0]);
    if (parsed.success) return parsed.data;
    throw invalidMembers(
      describeIssues(parsed.error).map((issue) => ({ ...issue, path: `models.${index}.${issue.path}` })),
    );
  });
  const ids = models.map(({ id }) => id);
  await transactionOn(scope, null, async (tx) => {
    for (const other of await repository.lockOthers(tx, ids)) await removeModel(scope, tx, other);
    for (const { access_grants: grants, ...model } of models) {
      const input = inputOf(model);
      const stored = await readModel(tx, scope.actor, model.id);
      if (!stored) await addModel(scope, tx, input);
      else {
        const row = await lockModel(tx, model.id);
        await changeModel(scope, tx, row, { change: () => putModel(scope, tx, row, input) });
      }
      if (grants) await replaceGrants(scope, tx, resource(model.id), grants);
    }
  });
  return listAll(scope);
}
