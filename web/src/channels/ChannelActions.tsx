import { ActionIcon, Button } from '@mantine/core';
import type { Channel } from '@parley/client';
import { Info, Pin, Search, UsersRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { openDetails } from '../base/overlay.ts';
import { IconTo } from '../ui/links.tsx';

/** The buttons in the head of a channel: members, search, pins, details. */
export function ChannelActions({ channel }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const { id, user_count } = channel;
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        size="compact-md"
        visibleFrom="sm"
        leftSection={<UsersRound size={16} aria-hidden />}
        aria-label={t('members.count', { count: user_count })}
        title={t('members.count', { count: user_count })}
        onClick={() => openDetails(id, 'members')}
      >
        {user_count}
      </Button>
      <IconTo
        variant="subtle"
        color="gray"
        to="/search"
        search={{ channel: id }}
        aria-label={t('search.here')}
        title={t('search.here')}
      >
        <Search size={18} aria-hidden />
      </IconTo>
      <Action label={t('details.pins')} onClick={() => openDetails(id, 'pins')}>
        <Pin size={18} aria-hidden />
      </Action>
      <Action label={t('details.open')} onClick={() => openDetails(id)}>
        <Info size={18} aria-hidden />
      </Action>
    </>
  );
}

interface ActionProperties {
  label: string;
  onClick(): void;
  children: ReactNode;
}

function Action({ label, onClick, children }: ActionProperties) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} onClick={onClick}>
      {children}
    </ActionIcon>
  );
}
