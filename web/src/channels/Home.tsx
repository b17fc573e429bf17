import { useSuspenseQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { Empty } from '../ui/Empty.tsx';
import { Page } from '../ui/Page.tsx';
import { lastChannel } from './last.ts';

/** Goes on to the channel of the last visit, or says how to begin. */
export function Home() {
  const { t } = useTranslation('channels');
  const { data: channels } = useSuspenseQuery(trpc.channels.list.queryOptions());
  const open = channels.find(({ id }) => id === lastChannel()) ?? channels[0];
  if (open) return <Navigate to="/channels/$channelId" params={{ channelId: open.id }} replace />;
  return (
    <Page title={t('home.title')}>
      <Empty icon={<MessagesSquare size={32} aria-hidden />} title={t('home.empty')}>
        {t('home.emptyHint')}
      </Empty>
    </Page>
  );
}
