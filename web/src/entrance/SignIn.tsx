import { Alert, Divider, SegmentedControl, Stack } from '@mantine/core';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useConfig, useSessionChange } from '../api/session.ts';
import { AnchorTo } from '../ui/links.tsx';
import { DirectoryForm } from './DirectoryForm.tsx';
import { EntranceFrame } from './EntranceFrame.tsx';
import { PasswordForm } from './PasswordForm.tsx';
import { Providers } from './Providers.tsx';

type Way = 'password' | 'directory';

export function SignIn() {
  const { t } = useTranslation('entrance');
  const { features, oauth } = useConfig();
  const { to, error, hasWaited } = useSearch({ from: '/sign-in' });
  const router = useRouter();
  const changeSession = useSessionChange();
  const ways: Way[] = [
    ...(features.enable_ldap ? ['directory' as const] : []),
    ...(features.enable_login_form ? ['password' as const] : []),
  ];
  const [way, setWay] = useState(ways[0]);
  const hasProviders = Object.keys(oauth.providers).length > 0;
  const enter = async () => {
    await changeSession();
    router.history.push(to ?? '/');
  };
  return (
    <EntranceFrame
      title={t('signIn.title')}
      foot={
        features.enable_signup &&
        features.enable_login_form && (
          <AnchorTo to="/sign-up" search={to ? { to } : {}}>
            {t('signIn.toSignUp')}
          </AnchorTo>
        )
      }
    >
      <Stack gap="md">
        {hasWaited && <Alert>{t('signIn.hasWaited')}</Alert>}
        {error && (
          <Alert color="red" role="alert">
            {error}
          </Alert>
        )}
        {ways.length > 1 && (
          <SegmentedControl
            aria-label={t('signIn.way')}
            value={way ?? 'password'}
            onChange={(next) => setWay(next as Way)}
            data={ways.map((name) => ({ value: name, label: t(`signIn.${name}`) }))}
          />
        )}
        {way === 'password' && <PasswordForm onSignedIn={enter} />}
        {way === 'directory' && <DirectoryForm onSignedIn={enter} />}
        {hasProviders && way && <Divider label={t('signIn.or')} />}
        <Providers providers={oauth.providers} to={to} />
        {!way && !hasProviders && <Alert color="yellow">{t('signIn.noWay')}</Alert>}
      </Stack>
    </EntranceFrame>
  );
}
