import { Menu, Text, UnstyledButton } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { LogOut, UserRound } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { useMe, useSessionChange } from '../api/session.ts';
import { MenuItemTo } from '../ui/links.tsx';
import { Person } from '../ui/Person.tsx';
import classes from './AccountMenu.module.css';

export function AccountMenu() {
  const { t } = useTranslation();
  const me = useMe();
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
    <Menu position="top-start" width="target">
      <Menu.Target>
        <UnstyledButton className={classes.button}>
          <Person id={me.id} name={me.name} size={24} />
          <Text truncate>{me.name}</Text>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <MenuItemTo to="/account" leftSection={<UserRound size={16} aria-hidden />}>
          {t('nav.account')}
        </MenuItemTo>
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => signOut.mutate()}>
          {t('nav.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
