import { Button, Group } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { useMe } from '../api/session.ts';
import { openOverlay } from '../base/overlay.ts';
import { Empty } from '../ui/Empty.tsx';
import { Page } from '../ui/Page.tsx';
import { lastChannel } from './last.ts';

/** Goes on to the channel of the last visit, or says how to begin. */
export function Home() {
  const { t } = useTranslation('channels');
  const { role } = useMe();
  const { data: channels } = useSuspenseQuery(trpc.channels.list.queryOptions());
  const open = channels.find(({ id }) => id === lastChannel()) ?? channels[0];
  if (open) return <Navigate to="/channels/$channelId" params={{ channelId: open.id }} replace />;
  const kinds =
    role === 'admin' ? (['boards', 'groups', 'direct'] as const) : (['direct', 'groups'] as const);
  return (
    <Page title={t('home.title')}>
      <Empty
        icon={<MessagesSquare size={32} aria-hidden />}
        title={t('home.empty')}
        action={
          <Group gap="xs" mt="xs">
            {kinds.map((kind, index) => (
              <Button
                key={kind}
                size="sm"
                variant={index === 0 ? 'filled' : 'default'}
                onClick={() => openOverlay({ name: 'newChannel', kind })}
              >
                {t(`new.${kind}`)}
              </Button>
            ))}
          </Group>
        }
      >
        {t('home.emptyHint')}
      </Empty>
    </Page>
  );
}
