import { ActionIcon, Button, Group, Stack } from '@mantine/core';
import type { Message } from '@parley/client';
import { useTranslation } from 'react-i18next';
import { usePane } from '../pane.ts';
import { QUICK, rightsOn, toggleReaction, useActions } from './actions.ts';
import classes from './MessageRow.module.css';
import { ReactionPicker } from './ReactionPicker.tsx';

interface Properties {
  message: Message;
  onClose(): void;
}

/** The actions of a message for fingers. */
export function ActionSheet({ message, onClose }: Properties) {
  const { t } = useTranslation('messages');
  const pane = usePane();
  const react = (emoji: string) => {
    toggleReaction(message, emoji, pane.me.id);
    onClose();
  };
  return (
    <Stack gap={4}>
      {rightsOn(message, pane).react && (
        <Group gap="xs" pb="xs">
          {QUICK.map((emoji) => (
            <ActionIcon
              key={emoji}
              variant="default"
              size={44}
              radius="xl"
              aria-label={t('action.reactWith', { emoji })}
              onClick={() => react(emoji)}
            >
              <span className={classes.emoji}>{emoji}</span>
            </ActionIcon>
          ))}
          <ReactionPicker size={44} onPick={react} />
        </Group>
      )}
      {useActions(message).map(({ key, label, icon: Icon, isDangerous, run }) => (
        <Button
          key={key}
          variant="subtle"
          color={isDangerous ? 'red' : 'gray'}
          justify="flex-start"
          size="md"
          leftSection={<Icon size={18} aria-hidden />}
          onClick={() => {
            onClose();
            run();
          }}
        >
          {label}
        </Button>
      ))}
    </Stack>
  );
}
