import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Navigate, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { startLive } from '../api/live.ts';
import { meQuery } from '../api/session.ts';
import { NavigationContext } from './MenuButton.tsx';
import { Navigation } from './Navigation.tsx';
import classes from './Shell.module.css';

/** The frame of the workspace. Follows the events of all channels while it is shown. */
export function Shell() {
  const { data: me } = useQuery(meQuery);
  const { href } = useLocation();
  // The session ended while the page was open.
  if (!me) return <Navigate to="/sign-in" search={{ to: href }} />;
  if (me.role === 'pending') return <Navigate to="/pending" />;
  return <Workspace key={me.id} />;
}

function Workspace() {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure(false);
  const { href } = useLocation();
  useEffect(startLive, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the address closes the navigation
  useEffect(close, [href]);
  return (
    <NavigationContext value={open}>
      <a className={classes.skip} href="#content">
        {t('nav.skip')}
      </a>
      <div className={classes.shell}>
        <Navigation isOpen={isOpen} onClose={close} />
        <main id="content" className={classes.main} tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </NavigationContext>
  );
}
