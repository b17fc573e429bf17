import { Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Hash, MessageSquarePlus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useChannelTitle } from '../../messages/title.ts';
import { useTalk } from './useTalk.ts';

/** The channels that the menu offers. */
const MOST_CHANNELS = 8;

/** Starts a conversation with a model: in a channel of its own, or in one that the person may write in. */
export function TalkButton({ model }: { model: { id: string; name: string } }) {
  const { t } = useTranslation('models');
  const talk = useTalk();
  const titleOf = useChannelTitle();
  const { data: channels = [] } = useQuery(trpc.channels.list.queryOptions());
  const open = channels.filter(({ write_access }) => write_access).slice(0, MOST_CHANNELS);
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="default"
          loading={talk.isPending}
          aria-label={t('talk.label', { name: model.name })}
        >
          {t('talk.button')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<MessageSquarePlus size={14} aria-hidden />}
          onClick={() => talk.mutate({ model })}
        >
          {t('talk.new')}
        </Menu.Item>
        {open.length > 0 && <Menu.Label>{t('talk.in')}</Menu.Label>}
        {open.map((channel) => (
          <Menu.Item
            key={channel.id}
            leftSection={<Hash size={14} aria-hidden />}
            onClick={() => talk.mutate({ model, channelId: channel.id })}
          >
            {titleOf(channel)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
