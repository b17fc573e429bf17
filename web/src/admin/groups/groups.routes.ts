import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const groups = createRoute({
  getParentRoute: () => adminRoute,
  path: '/groups',
  component: lazyRouteComponent(() => import('./GroupsPage.tsx'), 'GroupsPage'),
});

export const groupRoutes = [groups] as const;
