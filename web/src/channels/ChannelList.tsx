import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Hash } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { ErrorNote } from '../ui/ErrorNote.tsx';
import { NavLinkTo } from '../ui/links.tsx';

/** The channels of the person with their unread counts. */
export function ChannelList() {
  const { t } = useTranslation();
  const { channelId } = useParams({ strict: false });
  const { data, error } = useQuery(trpc.channels.list.queryOptions());
  return (
    <>
      <Text component="h2" size="xs" fw={600} c="dimmed" px="xs" py={4}>
        {t('nav.channels')}
      </Text>
      <ErrorNote error={error} />
      {data?.map(({ id, name, unread_count }) => (
        <NavLinkTo
          key={id}
          to="/channels/$channelId"
          params={{ channelId: id }}
          label={name}
          active={id === channelId}
          aria-current={id === channelId ? 'page' : undefined}
          leftSection={<Hash size={15} aria-hidden />}
          rightSection={unread_count > 0 && <Badge size="sm">{unread_count}</Badge>}
        />
      ))}
    </>
  );
}
