import type { Message, SessionUser } from '@parley/client';
import { useEffect, useMemo } from 'react';
import { api } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { outboxOf } from '../outbox/current.ts';
import { type Opening, readOpening, takeOpening } from './opening.ts';
import { channelSource, threadSource } from './source.ts';
import { MessageStore } from './store.ts';
import type { Window } from './window.ts';

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
  let opening: Opening;
  return store.open(
    async (source) => {
      opening = await readOpening(store.options.channelId, source);
      return opening.page;
    },
    () => startOf(opening, store.options.me.id),
  );
}

/** The same at once, where the messages were read with the page. */
export function openPrepared(store: MessageStore): void {
  const prepared = takeOpening(store.options.channelId);
  if (prepared) store.show(prepared.page, startOf(prepared, store.options.me.id));
}

/** The first unread message of others, or the end. */
function startOf({ page, readUpTo }: Opening, ownId: string): Pick<Window, 'target' | 'unreadAfter'> {
  const first =
    readUpTo === null
      ? undefined
      : page.messages.find(({ created_at, user_id }) => created_at > readUpTo && user_id !== ownId);
  return { target: { messageId: first?.id ?? null, isJump: false }, unreadAfter: readUpTo };
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
