import { useQueryClient } from '@tanstack/react-query';
import { trpc } from '../../api/query.ts';
import type { ModelRecord } from '../entries.ts';

/** Keeps the lists right after a record was changed; without a record after one was deleted. */
export function useRefresh(): (record?: ModelRecord) => Promise<void> {
  const queryClient = useQueryClient();
  return async (record) => {
    if (record) queryClient.setQueryData(trpc.models.get.queryKey({ id: record.id }), record);
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: trpc.models.list.queryKey() }),
      queryClient.invalidateQueries({ queryKey: trpc.modelWorkspace.pathKey() }),
      queryClient.invalidateQueries({ queryKey: trpc.modelVersions.pathKey() }),
    ]);
  };
}
