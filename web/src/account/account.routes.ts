import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { shellRoute } from '../routes/shell.route.ts';

const account = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./Account.tsx'), 'Account'),
});

const index = createRoute({
  getParentRoute: () => account,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/account/profile', replace: true });
  },
});

const profile = createRoute({
  getParentRoute: () => account,
  path: '/profile',
  component: lazyRouteComponent(() => import('./Profile.tsx'), 'Profile'),
});

const security = createRoute({
  getParentRoute: () => account,
  path: '/security',
  component: lazyRouteComponent(() => import('./Security.tsx'), 'Security'),
});

const keys = createRoute({
  getParentRoute: () => account,
  path: '/keys',
  component: lazyRouteComponent(() => import('./Keys.tsx'), 'Keys'),
});

const notifications = createRoute({
  getParentRoute: () => account,
  path: '/notifications',
  component: lazyRouteComponent(() => import('./NotificationsPage.tsx'), 'NotificationsPage'),
});

const look = createRoute({
  getParentRoute: () => account,
  path: '/look',
  component: lazyRouteComponent(() => import('./LookPage.tsx'), 'LookPage'),
});

const usage = createRoute({
  getParentRoute: () => account,
  path: '/usage',
  component: lazyRouteComponent(() => import('./OwnUsage.tsx'), 'OwnUsage'),
});

export const accountRoutes = [
  account.addChildren([index, profile, security, keys, notifications, look, usage]),
] as const;
