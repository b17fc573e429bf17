import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import { trpc } from '../api/query.ts';
import { closeOverlay } from '../base/overlay.ts';

/** Opens the direct channel with a person, which is made where there is none. */
export function useWriteTo() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (userId: string) => api.channels.direct.query({ user_id: userId }),
    async onSuccess({ id }) {
      closeOverlay();
      void queryClient.invalidateQueries(trpc.channels.list.pathFilter());
      await navigate({ to: '/channels/$channelId', params: { channelId: id } });
    },
  });
}
