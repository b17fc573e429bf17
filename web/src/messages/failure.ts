import { isParleyError } from '@parley/client';
import { noticeEnd, queryClient, trpc } from '../api/query.ts';

/** A refused call may be the first sign that the session ended, or that the person may no longer read the channel. */
export function noticeFailure(error: unknown, channelId: string): void {
  noticeEnd(error);
  if (!isParleyError(error) || (error.status !== 403 && error.status !== 404)) return;
  void queryClient.invalidateQueries({ queryKey: trpc.channels.get.queryKey({ id: channelId }) });
}
