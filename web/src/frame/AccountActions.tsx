import { Menu, type MenuItemProps } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { createLink, useNavigate } from '@tanstack/react-router';
import { LogOut, UserRound } from 'lucide-react';
import type { AnchorHTMLAttributes } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { useSessionChange } from '../api/session.ts';
import { AccountButton } from './AccountButton.tsx';

const ItemTo = createLink(
  (properties: MenuItemProps & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'style' | 'color'>) => (
    <Menu.Item component="a" {...properties} />
  ),
);

/** What people do with their account from everywhere. */
export default function AccountActions() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const changeSession = useSessionChange();
  const signOut = useMutation(
    trpc.auths.signOut.mutationOptions({
      async onSuccess(answer) {
        // The provider of the session has a sign-out page of its own.
        if ('redirect_url' in answer && answer.redirect_url)
          return window.location.assign(answer.redirect_url);
        await navigate({ to: '/sign-in' });
        await changeSession();
      },
    }),
  );
  return (
    <Menu defaultOpened position="top-start" width="target">
      <Menu.Target>
        <AccountButton />
      </Menu.Target>
      <Menu.Dropdown>
        <ItemTo to="/account" leftSection={<UserRound size={16} aria-hidden />}>
          {t('nav.account')}
        </ItemTo>
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          {t('nav.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
