import { Bell, ChartColumn, KeyRound, Palette, ShieldCheck, UserRound } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useConfig } from '../api/session.ts';
import { Sections } from '../ui/Sections.tsx';

export function Account() {
  const { t } = useTranslation('account');
  const { features } = useConfig();
  const sections = [
    { to: '/account/profile', label: t('profile.title'), icon: <UserRound size={16} aria-hidden /> },
    { to: '/account/security', label: t('security.title'), icon: <ShieldCheck size={16} aria-hidden /> },
    ...(features.enable_api_keys
      ? [{ to: '/account/keys', label: t('keys.title'), icon: <KeyRound size={16} aria-hidden /> }]
      : []),
    { to: '/account/notifications', label: t('notifications.title'), icon: <Bell size={16} aria-hidden /> },
    { to: '/account/look', label: t('look.title'), icon: <Palette size={16} aria-hidden /> },
    { to: '/account/usage', label: t('usage.title'), icon: <ChartColumn size={16} aria-hidden /> },
  ];
  return <Sections label={t('title')} sections={sections} />;
}
