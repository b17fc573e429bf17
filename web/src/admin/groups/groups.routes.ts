import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const groups = createRoute({
  getParentRoute: () => adminRoute,
  path: '/groups',
  component: lazyRouteComponent(() => import('./GroupsPage.tsx'), 'GroupsPage'),
});

const group = createRoute({
  getParentRoute: () => adminRoute,
  path: '/groups/$groupId',
  component: lazyRouteComponent(() => import('./GroupPage.tsx'), 'GroupPage'),
});

export const groupRoutes = [groups, group] as const;
