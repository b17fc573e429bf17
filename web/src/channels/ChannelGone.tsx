import { Lock } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { queryClient, trpc } from '../api/query.ts';
import { Empty } from '../ui/Empty.tsx';
import { ButtonTo } from '../ui/links.tsx';
import { Page } from '../ui/Page.tsx';
import { forgetChannel } from './last.ts';

/** The right to read the channel was taken away, or the channel was deleted, while it was open. */
export function ChannelGone({ name }: { name: string }) {
  const { t } = useTranslation('messages');
  useEffect(() => {
    forgetChannel();
    void queryClient.invalidateQueries({ queryKey: trpc.channels.list.queryKey() });
  }, []);
  return (
    <Page title={name}>
      <Empty
        icon={<Lock size={32} aria-hidden />}
        title={t('gone.title')}
        action={<ButtonTo to="/">{t('gone.leave')}</ButtonTo>}
      >
        {t('gone.hint')}
      </Empty>
    </Page>
  );
}
