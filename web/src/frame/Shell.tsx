import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { startLive } from '../api/live.ts';
import { meQuery } from '../api/session.ts';
import { useOutboxSender } from '../messages/outbox/current.ts';
import { NavigationContext } from '../ui/MenuButton.tsx';
import { Attendance } from './Attendance.tsx';
import { Banners } from './Banners.tsx';
import { Navigation } from './Navigation.tsx';
import classes from './Shell.module.css';

/** The frame of the workspace. Follows the events of all channels while it is shown. */
export function Shell() {
  const { data: me } = useQuery(meQuery);
  const isMember = me != null && me.role !== 'pending';
  return isMember ? <Workspace key={me.id} accountId={me.id} /> : <Leave />;
}

/** The session or the role was lost while the page was open: the route decides again where the person belongs. */
function Leave() {
  const router = useRouter();
  useEffect(() => void router.invalidate(), [router]);
  return null;
}

function Workspace({ accountId }: { accountId: string }) {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure(false);
  const { href } = useLocation();
  useEffect(startLive, []);
  useOutboxSender(accountId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the address closes the navigation
  useEffect(close, [href]);
  return (
    <NavigationContext value={open}>
      <Attendance />
      <a className={classes.skip} href="#content">
        {t('nav.skip')}
      </a>
      <div className={classes.shell}>
        <Navigation isOpen={isOpen} onClose={close} />
        <main id="content" className={classes.main} tabIndex={-1}>
          <Banners />
          <div className={classes.view}>
            <Outlet />
          </div>
        </main>
      </div>
    </NavigationContext>
  );
}
