import type { Outputs } from '@parley/client';
import { skipToken, useQuery } from '@tanstack/react-query';
import { trpc } from '../api/query.ts';
import { useModelRights } from './rights.ts';

type Usable = Outputs['models']['list']['data'][number];
export type ModelRecord = Outputs['models']['get'];

/** A model of the list: usable, with or without a record, or a record that is off or cannot be used now. */
export interface Entry {
  id: string;
  name: string;
  description: string;
  tags: string[];
  picture: string | null;
  /** The person who made the record, or the provider. */
  offeredBy: string;
  isUsable: boolean;
  isOff: boolean;
  /** The model below it. */
  baseId: string | null;
  hasRecord: boolean;
  mayEdit: boolean;
}

export const pictureOf = (id: string): string =>
  `/api/v1/models/model/profile/image?id=${encodeURIComponent(id)}`;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function tagsOf({ tags }: Record<string, unknown>): string[] {
  return Array.isArray(tags) ? tags.map((tag: { name?: unknown }) => text(tag?.name)).filter(Boolean) : [];
}

/** The models that the person may use, and the records that they may read: administrators see all of them. */
export function useEntries(): { entries: Entry[] | undefined; error: unknown; refetch(): void } {
  const { isAdmin } = useModelRights();
  const usable = useQuery(trpc.models.list.queryOptions({}));
  const all = useQuery(trpc.modelWorkspace.all.queryOptions(isAdmin ? undefined : skipToken));
  const page = useQuery(trpc.modelWorkspace.page.queryOptions(isAdmin ? skipToken : {}));
  const records = isAdmin ? all : page;
  const list = isAdmin ? all.data : page.data?.items;
  const entries = usable.data && list && entriesOf(usable.data.data, list, isAdmin);
  return {
    entries,
    error: usable.error ?? records.error,
    refetch: () => void Promise.all([usable.refetch(), records.refetch()]),
  };
}

function entriesOf(usable: Usable[], records: ModelRecord[], isAdmin: boolean): Entry[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  const used = new Set(usable.map(({ id }) => id));
  const rest = records.filter(({ id }) => !used.has(id));
  return [
    ...usable.map((model) => entryOf(model, byId.get(model.id), isAdmin)),
    ...rest.map((record) => ({ ...ofRecord(record), isUsable: false, mayEdit: record.write_access })),
  ];
}

function entryOf(model: Usable, record: ModelRecord | undefined, isAdmin: boolean): Entry {
  const meta = model.info?.meta ?? {};
  return {
    id: model.id,
    name: model.name,
    description: text(meta.description),
    tags: model.tags.map(({ name }) => name),
    picture: model.info?.id === undefined ? null : pictureOf(model.id),
    offeredBy: (model.preset && record?.user?.name) || model.owned_by,
    isUsable: true,
    isOff: false,
    baseId: model.info?.base_model_id ?? null,
    hasRecord: model.info?.id !== undefined,
    mayEdit: record ? record.write_access : isAdmin,
  };
}

const ofRecord = ({ id, name, meta, user, is_active, base_model_id }: ModelRecord) => ({
  id,
  name,
  description: text(meta.description),
  tags: tagsOf(meta),
  picture: pictureOf(id),
  offeredBy: user?.name ?? '',
  isOff: !is_active,
  baseId: base_model_id,
  hasRecord: true,
});
