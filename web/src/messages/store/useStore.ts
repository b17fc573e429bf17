import type { Message, SessionUser } from '@parley/client';
import { useEffect, useMemo } from 'react';
import { api } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { queryClient, trpc } from '../../api/query.ts';
import { outboxOf } from '../outbox/current.ts';
import { channelSource, threadSource } from './source.ts';
import { MessageStore } from './store.ts';

/** The store of a list while the list is shown, fed by events and by the answers to own posts. */
export function useStore(channelId: string, threadId: string | null, me: SessionUser): MessageStore {
  const { id, name } = me;
  const store = useMemo(
    () =>
      new MessageStore({
        channelId,
        threadId,
        me: { id, name },
        source: threadId === null ? channelSource(channelId) : threadSource(channelId, threadId),
        readOne: (messageId: string): Promise<Message> =>
          api.messages.get.query({ id: channelId, message_id: messageId }),
      }),
    [channelId, threadId, id, name],
  );
  useLive({
    onEvent: (event) => event.channel_id === channelId && store.receive(event),
    onNotice: (notice) =>
      notice.channel_id === channelId && notice.data.type === 'message:delta' && store.receive(notice),
    onReload: (reloaded) => reloaded === channelId && void store.reload(),
  });
  useEffect(() => outboxOf(id).onStored((message, tempId) => store.posted(message, tempId)), [store, id]);
  return store;
}

/** Opens the main line at the first unread message, or at the end. */
export function openAtUnread(store: MessageStore): Promise<void> {
  const { channelId, me } = store.options;
  let readUpTo: number | null = null;
  return store.open(
    async (source) => {
      const query = trpc.channels.get.queryOptions({ id: channelId });
      const { last_read_at, unread_count } = await queryClient.fetchQuery({ ...query, staleTime: 2000 });
      if (last_read_at === null || unread_count === 0) return source.newest();
      readUpTo = last_read_at;
      return source.at(last_read_at + 1000);
    },
    ({ messages }) => {
      const since = readUpTo;
      const first =
        since === null
          ? undefined
          : messages.find(({ created_at, user_id }) => created_at > since && user_id !== me.id);
      return { target: { messageId: first?.id ?? null, isJump: false }, unreadAfter: since };
    },
  );
}

/** Opens a thread at its end. */
export const openAtEnd = (store: MessageStore): Promise<void> =>
  store.open(
    (source) => source.newest(),
    () => ({ target: { messageId: null, isJump: false } }),
  );

/** Opens the list around the first message of a day. */
export const openAtTime = (store: MessageStore, ns: number): Promise<void> =>
  store.open(
    (source) => source.at(ns),
    ({ messages }) => {
      const first = messages.find(({ created_at }) => created_at >= ns);
      return { target: { messageId: first?.id ?? messages.at(-1)?.id ?? null, isJump: true } };
    },
  );
