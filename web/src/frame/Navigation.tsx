import { Text } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { Boxes, Settings2, Wrench } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { useConfig, useMe } from '../api/session.ts';
import { ChannelList } from '../channels/ChannelList.tsx';
import { Logo } from '../ui/Logo.tsx';
import { NavLinkTo } from '../ui/links.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import classes from './Navigation.module.css';

const NavigationDrawer = lazy(() => import('./NavigationDrawer.tsx'));

interface Properties {
  isOpen: boolean;
  onClose(): void;
}

/** Beside the view on a wide screen, over it on a narrow one. */
export function Navigation({ isOpen, onClose }: Properties) {
  const { t } = useTranslation();
  return (
    <>
      <nav className={classes.side} aria-label={t('nav.main')}>
        <Content />
      </nav>
      {isOpen && (
        <Suspense>
          <NavigationDrawer onClose={onClose}>
            <Content />
          </NavigationDrawer>
        </Suspense>
      )}
    </>
  );
}

function Content() {
  const { t } = useTranslation();
  const { name } = useConfig();
  const { role } = useMe();
  return (
    <div className={classes.content}>
      <div className={classes.head}>
        <Logo size={22} />
        <Text fw={600} truncate>
          {name}
        </Text>
      </div>
      <div className={classes.lists}>
        <ChannelList />
      </div>
      <div className={classes.foot}>
        <Entry to="/tools" label={t('nav.tools')} icon={<Wrench size={16} aria-hidden />} />
        <Entry to="/models" label={t('nav.models')} icon={<Boxes size={16} aria-hidden />} />
        {role === 'admin' && (
          <Entry to="/admin" label={t('nav.admin')} icon={<Settings2 size={16} aria-hidden />} />
        )}
        <AccountMenu />
      </div>
    </div>
  );
}

function Entry({ to, label, icon }: { to: string; label: string; icon: ReactNode }) {
  const { pathname } = useLocation();
  const isHere = pathname === to || pathname.startsWith(`${to}/`);
  return (
    <NavLinkTo
      to={to}
      label={label}
      leftSection={icon}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      className={classes.entry}
    />
  );
}
