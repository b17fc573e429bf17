import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Hash, Search, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useChannelTitle } from '../../messages/title.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { ButtonTo } from '../../ui/links.tsx';
import type { Listed } from '../list/counts.ts';

/** Rows that are drawn at once. The search finds the others. */
const SHOWN = 100;

/** Channels that are not in the list: hidden ones, and for administrators those of others. */
export default function HiddenChannels({ onClose }: { onClose(): void }) {
  const { t } = useTranslation(['channels', 'common']);
  const titleOf = useChannelTitle();
  const [query, setQuery] = useState('');
  const { data: all, error } = useQuery(trpc.channels.listAll.queryOptions());
  const { data: listed } = useQuery(trpc.channels.list.queryOptions());
  const isListed = new Set(listed?.map(({ id }) => id));
  const hidden = (all ?? []).filter(({ id }) => !isListed.has(id));
  const found = hidden.filter((channel) =>
    titleOf(channel).toLowerCase().includes(query.trim().toLowerCase()),
  );
  return (
    <Modal opened onClose={onClose} title={t('hidden.title')}>
      <Stack gap="xs" mih={200}>
        <ErrorNote error={error} />
        {hidden.length > 0 && (
          <TextInput
            data-autofocus
            aria-label={t('hidden.search')}
            placeholder={t('hidden.search')}
            leftSection={<Search size={15} aria-hidden />}
            value={query}
            onChange={({ currentTarget }) => setQuery(currentTarget.value)}
          />
        )}
        {all && hidden.length === 0 && <Empty title={t('hidden.none')}>{t('hidden.noneHint')}</Empty>}
        {hidden.length > 0 && found.length === 0 && <Text c="dimmed">{t('common:grants.noMatch')}</Text>}
        {found.slice(0, SHOWN).map((channel) => (
          <HiddenRow key={channel.id} channel={channel} onClose={onClose} />
        ))}
      </Stack>
    </Modal>
  );
}

function HiddenRow({ channel, onClose }: { channel: Listed; onClose(): void }) {
  const { t } = useTranslation('channels');
  const title = useChannelTitle()(channel);
  const queryClient = useQueryClient();
  const show = useMutation(
    trpc.readers.setActive.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.channels.list.pathFilter()),
    }),
  );
  const hasMembers = channel.type === 'group' || channel.type === 'dm';
  return (
    <Group gap="xs" wrap="nowrap" mih={36}>
      {hasMembers ? <UsersRound size={16} aria-hidden /> : <Hash size={16} aria-hidden />}
      <Text size="sm" truncate flex={1}>
        {title}
      </Text>
      {hasMembers ? (
        <Button
          size="compact-sm"
          variant="default"
          loading={show.isPending}
          aria-label={t('hidden.showNamed', { name: title })}
          onClick={() => show.mutate({ id: channel.id, is_active: true })}
        >
          {t('hidden.show')}
        </Button>
      ) : (
        <ButtonTo
          size="compact-sm"
          variant="default"
          to="/channels/$channelId"
          params={{ channelId: channel.id }}
          aria-label={t('hidden.openNamed', { name: title })}
          onClick={onClose}
        >
          {t('form.open')}
        </ButtonTo>
      )}
    </Group>
  );
}
