import { ActionIcon, Menu, Tooltip } from '@mantine/core';
import type { Message } from '@parley/client';
import { EllipsisVertical } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { usePane } from '../pane.ts';
import { type Action, QUICK, rightsOn, toggleReaction, useActions } from './actions.ts';
import classes from './MessageRow.module.css';
import { ReactionPicker } from './ReactionPicker.tsx';

const IN_BAR = new Set(['thread', 'quote', 'edit']);

/** The actions of the message under the pointer, or with the focus. */
export default function Toolbar({ message }: { message: Message }) {
  const { t } = useTranslation('messages');
  const pane = usePane();
  const actions = useActions(message);
  const { react } = rightsOn(message, pane);
  return (
    <div className={classes.toolbar} role="toolbar" aria-label={t('action.all')}>
      {react &&
        QUICK.map((emoji) => (
          <ActionIcon
            key={emoji}
            variant="subtle"
            color="gray"
            size={26}
            aria-label={t('action.reactWith', { emoji })}
            onClick={() => toggleReaction(message, emoji, pane.me.id)}
          >
            <span className={classes.emoji}>{emoji}</span>
          </ActionIcon>
        ))}
      {react && <ReactionPicker onPick={(emoji) => toggleReaction(message, emoji, pane.me.id)} />}
      {actions
        .filter(({ key }) => IN_BAR.has(key))
        .map((action) => (
          <BarButton key={action.key} action={action} />
        ))}
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={26} aria-label={t('action.more')}>
            <EllipsisVertical size={15} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {actions
            .filter(({ key }) => !IN_BAR.has(key))
            .map(({ key, label, icon: Icon, isDangerous, run }) => (
              <Menu.Item
                key={key}
                color={isDangerous ? 'red' : undefined}
                leftSection={<Icon size={15} aria-hidden />}
                onClick={run}
              >
                {label}
              </Menu.Item>
            ))}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

function BarButton({ action: { label, icon: Icon, run } }: { action: Action }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size={26} aria-label={label} onClick={run}>
        <Icon size={15} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
