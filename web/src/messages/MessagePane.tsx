import { Text } from '@mantine/core';
import type { Channel, Message } from '@parley/client';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../api/session.ts';
import { Composer } from '../composer/Composer.tsx';
import { plainText } from '../composer/mentions.ts';
import type { Draft, Quote } from '../composer/types.ts';
import { authorOf } from './author.ts';
import { MessageList } from './list/MessageList.tsx';
import { Typing } from './live/Typing.tsx';
import { useTyping } from './live/useTyping.ts';
import classes from './MessagePane.module.css';
import { outboxOf } from './outbox/current.ts';
import { PaneContext } from './pane.ts';
import { isOwn } from './row/actions.ts';
import type { MessageStore } from './store/store.ts';

const DeleteDialog = lazy(() => import('./DeleteDialog.tsx'));

interface Properties {
  label: string;
  channel: Channel;
  store: MessageStore;
  onThread(rootId: string): void;
}

/** A list of messages with its composer: the main line, or a thread. */
export function MessagePane({ label, channel, store, onThread }: Properties) {
  const { t } = useTranslation('messages');
  const me = useMe();
  const { threadId } = store.options;
  const [quote, setQuote] = useState<Message | null>(null);
  const [editingId, setEditing] = useState<string | null>(null);
  const [doomed, setDoomed] = useState<Message | null>(null);
  const typing = useTyping(channel.id, threadId);
  const pane = useMemo(
    () => ({
      store,
      channel,
      me,
      threadId,
      openThread: onThread,
      quote: setQuote,
      edit: setEditing,
      askToDelete: setDoomed,
    }),
    [store, channel, me, threadId, onThread],
  );
  const send = (draft: Draft) => {
    typing.sent();
    store.isFollowed = true;
    store.setUnreadAfter(null);
    outboxOf(me.id).add(channel.id, threadId, draft);
    if (store.window().hasNewer) void store.toEnd();
  };
  const editLast = () => {
    const own = store.window().ids.findLast((id) => {
      const message = store.get(id);
      return message && message.meta.deleted !== true && isOwn(message, me);
    });
    if (own) setEditing(own);
  };
  return (
    <PaneContext value={pane}>
      <div className={classes.pane}>
        <MessageList key={`${channel.id} ${threadId}`} label={label} editingId={editingId} />
        <Typing />
        {channel.write_access ? (
          <div className={classes.composer}>
            <Composer
              channelId={channel.id}
              {...(threadId && { threadId })}
              quote={quote && quoteOf(quote)}
              onQuoteEnd={() => setQuote(null)}
              onSend={send}
              onTyping={typing.onTyping}
              onEditLast={editLast}
            />
          </div>
        ) : (
          <Text className={classes.composer} c="dimmed" size="sm">
            {t('pane.readOnly')}
          </Text>
        )}
        {doomed && (
          <Suspense>
            <DeleteDialog message={doomed} onClose={() => setDoomed(null)} />
          </Suspense>
        )}
      </div>
    </PaneContext>
  );
}

const quoteOf = (message: Message): Quote => ({
  id: message.id,
  name: authorOf(message).name,
  text: plainText(message.content),
});
