import { Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { CheckCheck, EyeOff, Info, LogOut } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { openDetails } from '../../base/overlay.ts';
import { ConfirmModal } from '../../ui/ConfirmButton.tsx';
import { useAway } from '../useAway.ts';
import type { Listed } from './counts.ts';
import { NOTIFY_LEVELS, useMarkRead, useNotify } from './marks.ts';

interface Properties {
  channel: Listed;
  title: string;
  target: ReactNode;
  isOpen: boolean;
  onClose(): void;
}

/** What a person does with a channel of the list. */
export default function ChannelMenu({ channel, title, target, isOpen, onClose }: Properties) {
  const { t } = useTranslation('channels');
  const markRead = useMarkRead();
  const notify = useNotify();
  const leaving = useLeaveActions(channel);
  const [isLeaving, setLeaving] = useState(false);
  const isRead = channel.unread_count + channel.mention_count === 0;
  const hasMembers = channel.type === 'group' || channel.type === 'dm';
  return (
    <>
      <Menu
        opened={isOpen && !isLeaving}
        onClose={onClose}
        position="bottom-start"
        width={232}
        returnFocus
        withInitialFocusPlaceholder={false}
      >
        <Menu.Target>{target}</Menu.Target>
        <Menu.Dropdown aria-label={t('menu.label', { name: title })}>
          <Menu.Item
            leftSection={<CheckCheck size={16} aria-hidden />}
            disabled={isRead}
            data-autofocus={!isRead || undefined}
            onClick={() => markRead.mutate({ id: channel.id })}
          >
            {t('menu.markRead')}
          </Menu.Item>
          <Menu.Item
            leftSection={<Info size={16} aria-hidden />}
            data-autofocus
            onClick={() => openDetails(channel.id)}
          >
            {t('menu.details')}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>{t('notify.label')}</Menu.Label>
          <Menu.RadioGroup
            value={channel.notify}
            onChange={(level) => notify.mutate({ id: channel.id, level: level as Listed['notify'] })}
          >
            {NOTIFY_LEVELS.map((level) => (
              <Menu.RadioItem key={level} value={level} closeMenuOnClick>
                {t(`notify.${level}`)}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          {hasMembers && <Menu.Divider />}
          {hasMembers && (
            <Menu.Item leftSection={<EyeOff size={16} aria-hidden />} onClick={leaving.hide}>
              {t('menu.hide')}
            </Menu.Item>
          )}
          {channel.type === 'group' && (
            <Menu.Item
              color="red"
              leftSection={<LogOut size={16} aria-hidden />}
              closeMenuOnClick={false}
              onClick={() => setLeaving(true)}
            >
              {t('menu.leave')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={isLeaving}
        onClose={() => {
          setLeaving(false);
          onClose();
        }}
        title={t('leave.title', { name: title })}
        confirm={t('leave.confirm')}
        onConfirm={leaving.leave}
      >
        {t('leave.hint')}
      </ConfirmModal>
    </>
  );
}

function useLeaveActions(channel: Listed) {
  const away = useAway(channel.id);
  const hide = useMutation(trpc.readers.setActive.mutationOptions({ onSuccess: away }));
  const leave = useMutation(trpc.members.leave.mutationOptions({ onSuccess: away }));
  return {
    hide: () => hide.mutate({ id: channel.id, is_active: false }),
    leave: () => leave.mutateAsync({ id: channel.id }),
  };
}
