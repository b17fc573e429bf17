import { isObject } from '../../core/json/json.ts';
import type { Scope } from '../../core/scope.ts';
import type { ProviderModel } from '../../providers/providers.types.ts';
import { type Chain, followChain } from '../models.chain.ts';
import type { FreeForm } from '../models.entity.ts';
import { mergeMeta } from '../models.params.ts';
import type { BaseModel, UsableModel } from '../models.schema.ts';
import { type ListedLink, readListing } from './listing.repository.ts';

/** The models that the caller may use, in the configured order, then by name. One statement; no provider is asked. */
export async function listUsableModels(scope: Scope): Promise<UsableModel[]> {
  const records = await readListing(scope.sql, scope.actor);
  const ids = new Set([...scope.providers.models().map(({ id }) => id), ...records.keys()]);
  const usable = [...ids].flatMap((id) => {
    const chain = followChain(scope, id, (at) => records.get(at));
    return chain ? [describe(scope, id, chain)] : [];
  });
  return inOrder(scope, usable);
}

/** Asks all providers for their models, in the background, when an administrator wants it. */
export function refreshProviders({ actor, providers }: Scope): void {
  if (actor.role === 'admin') providers.refresh();
}

/** What the connections offer, without the records over it. */
export const listBaseModels = (scope: Scope): BaseModel[] =>
  inOrder(
    scope,
    scope.providers.models().map((provider) => ({
      ...shared(provider),
      tags: [...provider.tags],
      connections: [...provider.connections],
      is_on_board: provider.isOnBoard,
      ...(provider.owned_by === 'ollama' ? { ollama: provider.raw } : { openai: provider.raw }),
    })),
  );

const { compare } = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

function inOrder<M extends { id: string; name: string }>({ configs }: Scope, models: M[]): M[] {
  const order = new Map(configs.current.ui.model_order_list.map((id, place) => [id, place]));
  const place = ({ id }: M) => order.get(id) ?? Number.POSITIVE_INFINITY;
  return models.sort((one, other) => {
    const [before, after] = [place(one), place(other)];
    return before === after ? compare(one.name, other.name) || compare(one.id, other.id) : before - after;
  });
}

const shared = ({ id, name, created, owned_by, connection_type, context_length }: ProviderModel) => ({
  id,
  name,
  object: 'model' as const,
  created,
  owned_by,
  connection_type,
  context_length,
});

function describe(
  { configs }: Scope,
  id: string,
  { records: [record], provider }: Chain<ListedLink>,
): UsableModel {
  const meta = layersOf(configs.current.models.default_metadata, record);
  const tags = [...provider.tags, ...tagsOf(record?.meta ?? {})];
  const info = record ? { ...infoOf(record), meta: meta ?? {} } : meta && { meta };
  return {
    ...shared(provider),
    id,
    name: record?.name ?? provider.name,
    created: record?.base_model_id ? record.created_at : provider.created,
    tags: tags.length > 1 ? unique(tags) : tags,
    ...(record?.base_model_id && { preset: true as const }),
    ...(info && { info }),
  };
}

/** The defaults with what the record says over them; undefined when there is neither. Pictures have an address of their own. */
function layersOf(defaults: FreeForm, record: ListedLink | undefined): FreeForm | undefined {
  if (!record?.meta && Object.keys(defaults).length === 0) return undefined;
  const { profile_image_url: _, ...meta } = mergeMeta([defaults, record?.meta ?? {}]);
  return meta;
}

const infoOf = ({ id, user_id, base_model_id, name, is_active, created_at, updated_at }: ListedLink) => ({
  id,
  user_id,
  base_model_id,
  name,
  is_active,
  created_at,
  updated_at,
});

const tagsOf = ({ tags }: FreeForm): { name: string }[] =>
  Array.isArray(tags)
    ? tags.flatMap((tag) => (isObject(tag) && typeof tag.name === 'string' ? [{ name: tag.name }] : []))
    : [];

const unique = (tags: readonly { name: string }[]) =>
  [...new Set(tags.map(({ name }) => name))].map((name) => ({ name }));
