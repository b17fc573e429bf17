import type { Channel } from '@parley/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../api/session.ts';
import { Banner } from '../messages/live/Banner.tsx';
import { PresenceContext, usePresence } from '../messages/live/presence.ts';
import { useReadMark } from '../messages/live/useReadMark.ts';
import { MessagePane } from '../messages/MessagePane.tsx';
import { openAtTime, openAtUnread, openPrepared, useStore } from '../messages/store/useStore.ts';
import { ThreadPane } from '../messages/thread/ThreadPane.tsx';
import { useChannelTitle } from '../messages/title.ts';
import { OpenOnClick } from '../ui/OpenOnClick.tsx';
import { Page } from '../ui/Page.tsx';
import { ChannelActions } from './ChannelActions.tsx';
import classes from './ChannelLine.module.css';
import { DateButton } from './DateButton.tsx';
import { useJump } from './useJump.ts';

const DateJump = lazy(() => import('./DateJump.tsx'));

/** The main line of a channel, with the open thread beside it. */
export function ChannelLine({ channel }: { channel: Channel }) {
  const { t } = useTranslation('messages');
  const { thread, message } = useSearch({ from: '/shell/channels/$channelId' });
  const me = useMe();
  const title = useChannelTitle()(channel);
  const shown = useShown({ ...channel, name: title });
  const navigate = useNavigate();
  const store = useStore(channel.id, null, me);
  useState(() => openPrepared(store));
  useReadMark(store, channel, me);
  const go = useCallback(
    (search: { thread?: string; message?: string }, replace = false) =>
      void navigate({ to: '/channels/$channelId', params: { channelId: channel.id }, search, replace }),
    [navigate, channel.id],
  );
  const openThread = useCallback((rootId: string) => go({ thread: rootId }), [go]);
  const onJumped = useCallback(() => go(thread ? { thread } : {}, true), [go, thread]);
  useJump(store, thread, message, go);
  useEffect(() => {
    if (store.window().status === 'loading' && (!message || thread)) void openAtUnread(store);
  }, [store, message, thread]);
  return (
    <PresenceContext value={usePresence(channel.id)}>
      <Page
        title={title}
        actions={
          <>
            <OpenOnClick button={(open) => <DateButton {...(open && { onClick: open })} />}>
              <DateJump onPick={(ns) => void openAtTime(store, ns)} />
            </OpenOnClick>
            <ChannelActions channel={channel} />
          </>
        }
        fill
      >
        <Banner />
        <div className={classes.columns}>
          <MessagePane
            label={t('list.label', { name: title })}
            channel={shown}
            store={store}
            onThread={openThread}
          />
          {thread && (
            <ThreadPane
              key={thread}
              channel={shown}
              rootId={thread}
              messageId={message}
              onJumped={onJumped}
              onClose={() => go({})}
            />
          )}
        </div>
      </Page>
    </PresenceContext>
  );
}

/** The channel for the rows: another object only when something changes that they show. */
function useShown(channel: Channel): Channel {
  const { id, name, description, write_access, is_manager } = channel;
  // biome-ignore lint/correctness/useExhaustiveDependencies: counts change often, and rows do not show them
  return useMemo(() => channel, [id, name, description, write_access, is_manager]);
}
