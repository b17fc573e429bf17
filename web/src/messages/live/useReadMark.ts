import type { Channel, SessionUser } from '@parley/client';
import { useEffect, useRef } from 'react';
import { api } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { queryClient, trpc } from '../../api/query.ts';
import { noticeFailure } from '../failure.ts';
import type { MessageStore } from '../store/store.ts';

const PAUSE_MS = 800;

const isReading = (store: MessageStore) => {
  const { status, hasNewer } = store.window();
  return (
    status === 'ready' &&
    !hasNewer &&
    store.isFollowed &&
    document.visibilityState === 'visible' &&
    document.hasFocus()
  );
};

/** Marks the channel as read while the person sees its end. */
export function useReadMark(
  store: MessageStore,
  { id, unread_count, last_read_at }: Channel,
  me: SessionUser,
) {
  const isUnread = useRef(unread_count > 0 || last_read_at === null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const look = () => {
    if (!isUnread.current || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (!isUnread.current || !isReading(store)) return;
      isUnread.current = false;
      void markRead(id).catch((error: unknown) => {
        noticeFailure(error, id);
        // The next look marks it, at the latest when the connection is back.
        isUnread.current = true;
      });
    }, PAUSE_MS);
  };
  useLive({
    onEvent({ channel_id, data, user }) {
      if (channel_id !== id || data.type !== 'message' || user.id === me.id) return;
      if (!isUnread.current && !isReading(store) && data.data.parent_id === null)
        store.setUnreadAfter(data.data.created_at - 1000);
      isUnread.current = true;
      look();
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `look` reads only references
  useEffect(() => {
    const stop = store.subscribe(look);
    window.addEventListener('focus', look);
    document.addEventListener('visibilitychange', look);
    return () => {
      stop();
      window.removeEventListener('focus', look);
      document.removeEventListener('visibilitychange', look);
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [store]);
  return look;
}

async function markRead(id: string): Promise<void> {
  const { last_read_at } = await api.readers.markRead.mutate({ id });
  queryClient.setQueryData(trpc.channels.get.queryKey({ id }), (channel) =>
    channel ? { ...channel, last_read_at, unread_count: 0, mention_count: 0 } : channel,
  );
}
