import { useMutation, useQueryClient } from '@tanstack/react-query';
import { trpc } from '../../api/query.ts';
import type { Listed } from './counts.ts';

export const NOTIFY_LEVELS = ['all', 'mentions', 'none'] as const;

/** Changes one channel of the list at once; the notice of the server confirms it. */
function useListChange() {
  const queryClient = useQueryClient();
  return (id: string, changes: Partial<Listed>) =>
    queryClient.setQueryData<Listed[]>(trpc.channels.list.queryKey(), (channels) =>
      channels?.map((channel) => (channel.id === id ? { ...channel, ...changes } : channel)),
    );
}

export function useMarkRead() {
  const change = useListChange();
  return useMutation(
    trpc.readers.markRead.mutationOptions({
      onSuccess: ({ last_read_at }, { id }) =>
        void change(id, { last_read_at, unread_count: 0, mention_count: 0 }),
    }),
  );
}

export function useNotify() {
  const queryClient = useQueryClient();
  const change = useListChange();
  return useMutation(
    trpc.readers.notify.mutationOptions({
      onMutate: ({ id, level }) => void change(id, { notify: level, is_channel_muted: level !== 'all' }),
      onSettled: (_done, _error, { id }) =>
        Promise.all([
          queryClient.invalidateQueries(trpc.channels.list.pathFilter()),
          queryClient.invalidateQueries(trpc.channels.get.queryFilter({ id })),
        ]),
    }),
  );
}
