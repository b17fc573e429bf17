import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { record } from '../audit/audit.record.ts';
import { difference } from '../audit/audit.values.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { type Transaction, transaction } from '../database/transaction.ts';
import { requireBase } from './models.access.ts';
import { type FreeForm, Model, type ModelEntity, type ModelSnapshot } from './models.entity.ts';
import { pictureAfter } from './models.pictures.ts';
import { insertModel, insertVersion } from './models.repository.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** Records of models or their grants have changed: callers may have lost their right to these models. Null: any models. */
    'model.changed': { ids: string[] | null };
  }
}

/** The bound for each record. */
const KEPT_VERSIONS = { count: 500, bytes: 16 * 2 ** 20 };

/** What a caller says of a model. */
export interface ModelInput {
  id: string;
  /** Undefined keeps the stored one. */
  base_model_id?: string | null | undefined;
  name: string;
  params: FreeForm;
  meta: FreeForm & { profile_image_url?: string | null | undefined };
  is_active?: boolean | undefined;
  commit_message?: string | null | undefined;
}

/** What a record may take of its owner's room, at most. */
export const bytesOf = (input: Pick<ModelInput, 'meta' | 'params' | 'name'>): number =>
  Buffer.byteLength(JSON.stringify([input.name, input.meta, input.params]));

/** Runs a transaction that changes these records or their grants. Every process then checks the calls of these models again. */
export async function transactionOn<T>(
  scope: Scope,
  ids: string[] | null,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const result = await transaction(scope, work);
  scope.bus.publish('model.changed', { ids });
  return result;
}

/** A record that names itself as its base has none. */
const baseOf = (
  { id, base_model_id: base }: Pick<ModelInput, 'id' | 'base_model_id'>,
  stored: string | null,
) => (base === undefined ? stored : base === id ? null : base);

/**
 * Stores a new record of the caller, with its first version and an audit entry.
 *
 * @throws id_taken; forbidden for records of provider models, which are for administrators; validation of the base
 */
export async function addModel(scope: Scope, tx: Transaction, input: ModelInput): Promise<void> {
  const { actor } = scope;
  const isAdmin = actor.role === 'admin';
  const base_model_id = baseOf(input, null);
  if (!isAdmin && base_model_id === null) throw withoutBase();
  if (!isAdmin && scope.providers.model(input.id)) throw new AppError('id_taken');
  if (base_model_id !== null) await requireBase(scope, tx, input.id, base_model_id);
  const { profile_image_url: image, ...meta } = input.meta;
  const { id, name, params, is_active = true } = input;
  const model = {
    ...{ id, name, params, meta, is_active, base_model_id },
    user_id: actor.id,
    opens_base: isAdmin && base_model_id !== null,
    picture: pictureAfter(null, image),
    created_at: nowSeconds(),
  };
  if (!(await insertModel(tx, model))) throw new AppError('id_taken');
  await keepVersion(scope, tx, { ...model, version: 1, updated_at: model.created_at }, input.commit_message);
  const after = audited({ ...model, version: 1 });
  await record(scope, tx, { action: 'model.create', target: { type: 'model', id }, after });
}

const withoutBase = () =>
  new AppError('forbidden', {
    detail: 'Only administrators make records of provider models. Name a base model.',
  });

/** The row of a record, locked until the transaction ends. @throws model_not_found */
export async function lockModel(tx: Transaction, id: string): Promise<ModelEntity> {
  const row = await tx.em.findOne(Model, id, {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    populate: ['picture'],
  });
  if (!row) throw new AppError('model_not_found');
  return row;
}

/**
 * Puts what a caller says into the locked row of a record.
 *
 * @throws forbidden, validation of the base
 */
export async function putModel(
  scope: Scope,
  tx: Transaction,
  row: ModelEntity,
  input: ModelInput,
): Promise<void> {
  const base = baseOf(input, row.base_model_id ?? null);
  if (base !== (row.base_model_id ?? null)) {
    const isAdmin = scope.actor.role === 'admin';
    if (!isAdmin && base === null) throw withoutBase();
    if (base !== null) await requireBase(scope, tx, row.id, base);
    row.base_model_id = base;
    row.opens_base = isAdmin && base !== null;
  }
  const { profile_image_url: image, ...meta } = input.meta;
  row.name = input.name;
  row.params = input.params;
  row.meta = meta;
  row.picture = pictureAfter(row.picture ?? null, image);
  row.is_active = input.is_active ?? row.is_active;
}

/** Changes a locked row, with a new version when its snapshot changes, and an audit entry. */
export async function changeModel(
  scope: Scope,
  tx: Transaction,
  row: ModelEntity,
  { change, message }: { change: () => Promise<void> | void; message?: string | null | undefined },
): Promise<void> {
  const before = { ...audited(row), snapshot: snapshotOf(row) };
  await change();
  row.updated_at = nowSeconds();
  if (!isDeepStrictEqual(before.snapshot, snapshotOf(row))) row.version += 1;
  await tx.em.flush();
  if (row.version !== before.version) await keepVersion(scope, tx, row, message);
  const { snapshot: _, ...known } = before;
  const changed = difference(known, audited(row));
  if (changed) {
    await record(scope, tx, { action: 'model.update', target: { type: 'model', id: row.id }, ...changed });
  }
}

/** Plain JSON, as stored. */
const snapshotOf = ({ name, base_model_id, params, meta }: ModelEntity): ModelSnapshot =>
  JSON.parse(JSON.stringify({ name, base_model_id: base_model_id ?? null, params, meta }));

const keepVersion = (scope: Scope, tx: Transaction, row: ModelEntity, message: string | null | undefined) =>
  insertVersion(
    tx,
    {
      id: uuidv7(),
      model_id: row.id,
      version: row.version,
      user_id: scope.actor.id,
      snapshot: snapshotOf(row),
      commit_message: message ?? null,
      created_at: row.updated_at,
    },
    KEPT_VERSIONS,
  );

/** The data of a record for the audit log; the versions hold the rest. */
const audited = ({
  name,
  base_model_id,
  is_active,
  version,
}: Pick<ModelEntity, 'name' | 'base_model_id' | 'is_active' | 'version'>) => ({
  name,
  base_model_id: base_model_id ?? null,
  is_active,
  version,
});
