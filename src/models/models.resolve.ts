import type { Scope } from '../core/scope.ts';
import type { ProviderModel } from '../providers/providers.types.ts';

/** A model that the caller may use, with all that a call of it needs. */
export interface ResolvedModel {
  readonly id: string;
  readonly name: string;
  /** The provider model at the end of its chain of base models. */
  readonly provider: ProviderModel;
  /** The system prompt, with its variables; null without one. */
  readonly system: string | null;
  /** Parameters for the provider: the defaults of the configuration, then those of each record on the way from the base. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The tools that its record names. */
  readonly toolIds: readonly string[];
  /** What it can do; true unless its record says otherwise. */
  readonly capabilities: { readonly vision: boolean; readonly tools: boolean };
  readonly meta: Readonly<Record<string, unknown>>;
}

/**
 * The model with this id, in one statement. The caller needs the right to read each record on the way to the base.
 *
 * @throws model_not_found, also for a model that the caller may not use
 */
export declare function resolveModel(scope: Scope, id: string): Promise<ResolvedModel>;

/** Those of these ids that name models which the caller may use, with their names, in one statement. */
export declare function findModels(
  scope: Scope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { name: string }>>;
