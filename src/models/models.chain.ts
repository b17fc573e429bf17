import type { Actor, Scope } from '../core/scope.ts';
import type { ProviderModel } from '../providers/providers.types.ts';

/** What of a record decides whether a caller may use its model. */
export interface Link {
  id: string;
  base_model_id: string | null;
  opens_base: boolean;
  is_active: boolean;
  can_read: boolean;
}

/** The most records from a model to its provider model. Records that form a circle end here as well. */
export const MOST_LINKS = 10;

export interface Chain<L> {
  /** From the model to its base; empty for a provider model without a record. */
  records: readonly L[];
  provider: ProviderModel;
}

/** The account that wants to use a model, with what decides. */
export type ChainScope = Pick<Scope, 'configs'> & {
  providers: Pick<Scope['providers'], 'model'>;
  actor: Pick<Actor, 'role'>;
};

/** Whether the caller may use a provider model that has no record. */
export const mayUsePlain = ({ actor, configs }: ChainScope, { isOnBoard }: ProviderModel): boolean =>
  actor.role === 'admin' || isOnBoard || configs.current.models.open_provider_models === true;

export const noRecord = (id: string): string => `The model ${id} has no record, so it is for administrators.`;

/** A record over another base that a member made does not take the place of a provider model that comes to have its id. */
const standing = <L extends Link>({ providers }: ChainScope, record: L | undefined): L | undefined =>
  record && record.base_model_id !== null && !record.opens_base && providers.model(record.id)
    ? undefined
    : record;

/**
 * The way from a model to its provider model. Undefined when there is none, and when the caller may not go it: each record must be
 * active and readable for the caller, and a provider model without a record must be open to the caller, or be opened by the record
 * that names it.
 *
 * @param recordOf the record of an id, whether or not the caller may read it
 */
export function followChain<L extends Link>(
  scope: ChainScope,
  id: string,
  recordOf: (id: string) => L | undefined,
): Chain<L> | undefined {
  const way = walk(scope, id, recordOf);
  return typeof way === 'string' ? undefined : way;
}

/** The same, or why there is no way: a sentence about the account. */
export function walk<L extends Link>(
  scope: ChainScope,
  id: string,
  recordOf: (id: string) => L | undefined,
): Chain<L> | string {
  const records: L[] = [];
  let at = id;
  let record = standing(scope, recordOf(at));
  while (record) {
    if (!record.can_read) return `They may not read the model ${at}.`;
    if (!record.is_active) return `The model ${at} is switched off.`;
    if (records.length === MOST_LINKS) return 'Too many models stand over each other, or they form a circle.';
    records.push(record);
    if (record.base_model_id === null) break;
    at = record.base_model_id;
    record = standing(scope, recordOf(at));
  }
  const provider = scope.providers.model(at);
  if (!provider) return `No connection offers the model ${at}.`;
  const isOpen = record !== undefined || records.at(-1)?.opens_base || mayUsePlain(scope, provider);
  return isOpen ? { records, provider } : noRecord(at);
}
