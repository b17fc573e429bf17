import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { ProviderModel } from '../providers/providers.types.ts';
import { followChain } from './models.chain.ts';
import { capabilitiesOf, mergeMeta, providerParams, systemOf, toolIdsOf } from './models.params.ts';
import { readCalls, readLinks } from './models.resolve.repository.ts';

/** A model that the caller may use, with all that a call of it needs. */
export interface ResolvedModel {
  readonly id: string;
  readonly name: string;
  /** The ids of the records on the way to the provider model, and the id of that. */
  readonly path: readonly string[];
  /** The provider model at the end of its chain of base models. */
  readonly provider: ProviderModel;
  /** The system prompt, with its variables; null without one. */
  readonly system: string | null;
  /** Parameters for the provider: the defaults of the configuration, then those of each record on the way from the base. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The tools that its record names. */
  readonly toolIds: readonly string[];
  /** What it can do; true unless its record says otherwise, or it is the model on board. */
  readonly capabilities: { readonly vision: boolean; readonly tools: boolean };
  readonly meta: Readonly<Record<string, unknown>>;
}

/**
 * The model with this id, in one statement. The caller needs the right to read each record on the way to the base.
 *
 * @throws model_not_found, also for a model that the caller may not use
 */
export async function resolveModel(scope: Scope, id: string): Promise<ResolvedModel> {
  const records = await readCalls(scope.sql, scope.actor, [id]);
  const chain = followChain(scope, id, (at) => records.get(at));
  if (!chain) throw new AppError('model_not_found');
  const { provider } = chain;
  const { default_params, default_metadata } = scope.configs.current.models;
  const fromBase = chain.records.toReversed();
  const params = fromBase.map(({ params }) => params);
  const meta = mergeMeta([default_metadata, ...fromBase.map(({ meta }) => meta)]);
  return {
    id,
    name: chain.records[0]?.name ?? provider.name,
    path: [...chain.records.map((record) => record.id), provider.id],
    provider,
    system: systemOf(default_params, params),
    params: providerParams([default_params, ...params]),
    toolIds: toolIdsOf(meta),
    capabilities: capabilitiesOf(meta, provider),
    meta,
  };
}

/**
 * Checks the caller's right to a model that a running call uses, in one statement. A connection that does not offer the model any more
 * ends no call.
 *
 * @throws model_not_found
 */
export async function requireStillUsable(scope: Scope, { id, provider }: ResolvedModel): Promise<void> {
  const records = await readLinks(scope.sql, scope.actor, [id]);
  const { actor, configs, providers } = scope;
  const known = { model: (at: string) => providers.model(at) ?? (at === provider.id ? provider : undefined) };
  if (!followChain({ actor, configs, providers: known }, id, (at) => records.get(at))) {
    throw new AppError('model_not_found');
  }
}

/** Those of these ids that name models which the caller may use, with their names, in one statement. */
export async function findModels(
  scope: Scope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { name: string }>> {
  if (ids.length === 0) return new Map();
  const records = await readLinks(scope.sql, scope.actor, ids);
  return new Map(
    ids.flatMap((id) => {
      const chain = followChain(scope, id, (at) => records.get(at));
      return chain ? [[id, { name: chain.records[0]?.name ?? chain.provider.name }]] : [];
    }),
  );
}
