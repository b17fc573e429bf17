import { useQuery } from '@tanstack/react-query';
import { trpc } from '../../api/query.ts';
import type { Grant } from '../../ui/grants/grants.ts';
import { useExplained } from '../settings/settings.ts';

/** A model of a connection, with what its record says. */
export interface Offered {
  id: string;
  name: string;
  connections: string[];
  grants: Grant[];
  isActive: boolean;
  hasRecord: boolean;
  /** True where all members may use it without a grant. */
  isOpen: boolean;
}

/** The models of all connections; undefined until they are known. */
export function useOffered(): { models: Offered[] | undefined; error: unknown } {
  const base = useQuery(trpc.models.base.queryOptions());
  const all = useQuery(trpc.modelWorkspace.all.queryOptions());
  const { settings } = useExplained();
  const areOpen = settings.find(({ path }) => path === 'models.open_provider_models')?.value === true;
  const error = base.error ?? all.error;
  if (!base.data || !all.data) return { models: undefined, error };
  const records = new Map(all.data.map((record) => [record.id, record]));
  const models = base.data.data.map(({ id, name, connections, is_on_board }) => {
    const record = records.get(id);
    return {
      id,
      name: record?.name ?? name,
      connections,
      grants: record?.access_grants ?? [],
      isActive: record?.is_active ?? true,
      hasRecord: record !== undefined,
      isOpen: !record && (areOpen || is_on_board),
    };
  });
  return { models, error };
}
