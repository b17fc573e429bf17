import { ActionIcon } from '@mantine/core';
import { useLongPress } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { BellOff, Ellipsis, Hash, UsersRound } from 'lucide-react';
import { lazy, memo, Suspense, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/session.ts';
import { othersOf } from '../../messages/title.ts';
import { personalCount } from '../../ui/attention.ts';
import { FocusButton } from '../../ui/OpenOnClick.tsx';
import { Person } from '../../ui/Person.tsx';
import classes from './ChannelRow.module.css';
import { countText, isNews, type Listed } from './counts.ts';

const ChannelMenu = lazy(() => import('./ChannelMenu.tsx'));

interface Properties {
  channel: Listed;
  title: string;
  isOpen: boolean;
}

/** A channel of the list. What is new in the open channel is in view, so its row counts nothing. */
export const ChannelRow = memo(function ChannelRow({ channel, title, isOpen }: Properties) {
  const { t } = useTranslation('channels');
  const frame = useRef<HTMLLIElement>(null);
  const [menu, setMenu] = useState<'unloaded' | 'open' | 'closed'>('unloaded');
  const openMenu = () => setMenu('open');
  // Safari has no event of its own for a long press. Its end is no click on the row.
  const longPress = useLongPress(openMenu, {
    threshold: 450,
    events: ['touch'],
    cancelOnMove: true,
    onFinish: (event) => event.preventDefault(),
  });
  const hasNews = isNews(channel) && !isOpen;
  const more = (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={24}
      className={classes.more}
      aria-label={t('menu.label', { name: title })}
      aria-haspopup="menu"
      onClick={openMenu}
    >
      <Ellipsis size={15} aria-hidden />
    </ActionIcon>
  );
  return (
    <li
      ref={frame}
      className={classes.row}
      data-open={isOpen || undefined}
      data-news={hasNews || undefined}
      data-muted={channel.notify === 'none' || undefined}
      data-menu={menu === 'open' || undefined}
      onContextMenu={(event) => {
        event.preventDefault();
        openMenu();
      }}
      {...longPress}
    >
      <Link
        to="/channels/$channelId"
        params={{ channelId: channel.id }}
        className={classes.link}
        aria-current={isOpen ? 'page' : undefined}
      >
        <Sign channel={channel} title={title} />
        <span className={classes.title}>{title}</span>
        {channel.notify === 'none' && <BellOff size={14} role="img" aria-label={t('notify.muted')} />}
        {hasNews && <Count channel={channel} />}
      </Link>
      {menu === 'unloaded' ? (
        more
      ) : (
        <Suspense fallback={more}>
          <ChannelMenu
            channel={channel}
            title={title}
            target={more}
            isOpen={menu === 'open'}
            onClose={() => setMenu('closed')}
          />
          <FocusButton frame={frame} />
        </Suspense>
      )}
    </li>
  );
});

function Count({ channel }: { channel: Listed }) {
  const { t } = useTranslation('channels');
  const personal = personalCount(channel);
  const count = personal || channel.unread_count;
  return (
    <span className={classes.count} data-personal={personal > 0 || undefined}>
      <span aria-hidden>{countText(count)}</span>
      <span className={classes.spoken}>
        {t(personal > 0 && channel.type !== 'dm' ? 'count.mentions' : 'count.unread', { count })}
      </span>
    </span>
  );
}

function Sign({ channel, title }: Omit<Properties, 'isOpen'>) {
  const { t } = useTranslation('channels');
  const me = useMe();
  if (channel.type === 'group') return <UsersRound size={16} className={classes.sign} aria-hidden />;
  if (channel.type !== 'dm') return <Hash size={16} className={classes.sign} aria-hidden />;
  const [first, ...rest] = othersOf(channel, me.id);
  if (!first || rest.length > 0) return <UsersRound size={16} className={classes.sign} aria-hidden />;
  return (
    <span className={classes.person}>
      <Person id={first.id} name={title} size={18} />
      {first.is_active && <span className={classes.online} role="img" aria-label={t('online')} />}
    </span>
  );
}
