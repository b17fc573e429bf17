import { ActionIcon, Badge, Group, Switch, Text } from '@mantine/core';
import { Pencil, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { showError } from '../../base/errors.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import classes from './connections.module.css';
import { type Connection, type State, settingNamed, shownName } from './connections.ts';
import { useConnections } from './useConnections.ts';

interface Properties {
  connection: Connection;
  index: number;
  /** Undefined where the connection is switched off, and until the states are known. */
  state: State | undefined;
  onOpen(): void;
}

const COLORS = { ok: 'green', failed: 'red', asking: 'gray' } as const;

/** One connection: its state, its switch, edit and remove. */
export function ConnectionRow({ connection, index, state, onOpen }: Properties) {
  const { t } = useTranslation('config');
  const { settings, save } = useConnections();
  const { kind, config } = connection;
  const name = shownName(connection, index);
  const isOn = config.enable !== false;
  const isLocked = settingNamed(settings, kind, 'urls')?.locked ?? false;
  const areSettingsLocked = settingNamed(settings, kind, 'api_configs')?.locked ?? false;
  const change = (next: Connection | null) =>
    save.mutateAsync({ kind, before: connection, next }).catch((error: unknown) => {
      showError(error);
      throw error;
    });
  return (
    <li className={classes.row}>
      <div className={classes.about}>
        <Group gap="xs">
          <Text fw={500}>{name}</Text>
          <StateBadge isOn={isOn} state={state} />
        </Group>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {connection.url}
        </Text>
        {state?.state === 'failed' && (
          <Text size="sm" c="var(--mantine-color-error)">
            {state.detail}
          </Text>
        )}
      </div>
      <Group gap="xs" wrap="nowrap">
        <Switch
          aria-label={t('connection.useOne', { name })}
          checked={isOn}
          disabled={areSettingsLocked || save.isPending}
          onChange={({ currentTarget: { checked } }) =>
            void change({ ...connection, config: { ...config, enable: checked } }).catch(() => {})
          }
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('connection.edit', { name })}
          onClick={onOpen}
        >
          <Pencil size={16} aria-hidden />
        </ActionIcon>
        <ConfirmButton
          label={t('connection.remove', { name })}
          icon={<Trash2 size={16} aria-hidden />}
          disabled={isLocked}
          title={t('connection.remove', { name })}
          confirm={t('connection.removeNow')}
          onConfirm={() => change(null)}
        >
          <Text size="sm">{t('connection.removeHint')}</Text>
        </ConfirmButton>
      </Group>
    </li>
  );
}

function StateBadge({ isOn, state }: { isOn: boolean; state: State | undefined }) {
  const { t } = useTranslation('config');
  const isUsed = isOn && state;
  return (
    <Group gap={6}>
      <Badge variant="light" tt="none" color={isUsed ? COLORS[state.state] : 'gray'}>
        {isUsed ? t(`connection.state.${state.state}`, { count: state.models }) : t('connection.state.off')}
      </Badge>
      {isUsed && state.running + state.waiting > 0 && (
        <Text size="xs" c="dimmed">
          {t('connection.calls', { running: state.running, waiting: state.waiting })}
        </Text>
      )}
    </Group>
  );
}
