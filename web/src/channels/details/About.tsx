import { Button, Group, Radio, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Channel } from '@parley/client';
import { useMutation } from '@tanstack/react-query';
import { LogOut, Pencil, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { dateOfNs, formatDate } from '../../base/time.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { NOTIFY_LEVELS, useNotify } from '../list/marks.ts';
import { useAway } from '../useAway.ts';
import { EditChannel } from './EditChannel.tsx';

export function About({ channel }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const [isEditing, { open, close }] = useDisclosure(false);
  const mayChange = channel.is_manager && channel.type !== 'dm';
  if (isEditing) return <EditChannel channel={channel} onDone={close} />;
  return (
    <Stack gap="lg">
      <Stack gap={4} align="flex-start">
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {channel.description || (
            <span style={{ color: 'var(--text-quiet)' }}>{t('details.noDescription')}</span>
          )}
        </Text>
        <Text size="xs" c="dimmed">
          {t(`details.kind.${channel.type === 'group' || channel.type === 'dm' ? channel.type : 'board'}`)}
          {' · '}
          {t('details.created', {
            date: formatDate(dateOfNs(channel.created_at), { dateStyle: 'medium' }),
          })}
        </Text>
        {mayChange && (
          <Button
            variant="default"
            size="xs"
            mt={4}
            leftSection={<Pencil size={14} aria-hidden />}
            onClick={open}
          >
            {t('details.edit')}
          </Button>
        )}
      </Stack>
      <NotifyLevel channel={channel} />
      <Endings channel={channel} mayDelete={mayChange} />
    </Stack>
  );
}

function NotifyLevel({ channel: { id, notify } }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const change = useNotify();
  const shown = change.isPending ? change.variables.level : notify;
  return (
    <Radio.Group
      label={t('notify.label')}
      value={shown}
      onChange={(level) => change.mutate({ id, level: level as typeof notify })}
    >
      <Stack gap="xs" mt="xs">
        {NOTIFY_LEVELS.map((level) => (
          <Radio
            key={level}
            value={level}
            size="xs"
            label={t(`notify.${level}`)}
            description={t(`notify.hint.${level}`)}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

function Endings({ channel, mayDelete }: { channel: Channel; mayDelete: boolean }) {
  const { t } = useTranslation('channels');
  const away = useAway(channel.id);
  const leave = useMutation(trpc.members.leave.mutationOptions({ onSuccess: away }));
  const remove = useMutation(trpc.channels.delete.mutationOptions({ onSuccess: away }));
  const { id, name, type } = channel;
  return (
    <Group gap="xs">
      {type === 'group' && (
        <ConfirmButton
          size="xs"
          leftSection={<LogOut size={14} aria-hidden />}
          label={t('menu.leave')}
          title={t('leave.title', { name })}
          confirm={t('leave.confirm')}
          onConfirm={() => leave.mutateAsync({ id })}
        >
          {t('leave.hint')}
        </ConfirmButton>
      )}
      {mayDelete && (
        <ConfirmButton
          size="xs"
          color="red"
          variant="light"
          leftSection={<Trash2 size={14} aria-hidden />}
          label={t('delete.open')}
          title={t('delete.title', { name })}
          confirm={t('delete.confirm')}
          typedName={name}
          onConfirm={() => remove.mutateAsync({ id })}
        >
          {t('delete.hint')}
        </ConfirmButton>
      )}
    </Group>
  );
}
