import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Empty } from '../ui/Empty.tsx';
import { ErrorNote } from '../ui/ErrorNote.tsx';
import { ButtonTo } from '../ui/links.tsx';

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Empty
      icon={<SearchX size={32} aria-hidden />}
      title={t('error.notFound')}
      action={<ButtonTo to="/">{t('error.home')}</ButtonTo>}
    >
      {t('error.notFoundHint')}
    </Empty>
  );
}

export function Failed({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Empty title={t('error.title')}>
      <ErrorNote error={error} onRetry={retry} />
    </Empty>
  );
}
