import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { trpc } from '../api/query.ts';
import { closeOverlay } from '../base/overlay.ts';

/** Leads away from a channel that the person has left, hidden or deleted. */
export function useAway(channelId: string): () => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { channelId: open } = useParams({ strict: false });
  return async () => {
    closeOverlay();
    // First the list, since the start page opens a channel of it.
    await queryClient.invalidateQueries(trpc.channels.list.pathFilter());
    if (open === channelId) await navigate({ to: '/' });
  };
}
