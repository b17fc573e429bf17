import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const connections = createRoute({
  getParentRoute: () => adminRoute,
  path: '/connections',
  component: lazyRouteComponent(() => import('./ConnectionsPage.tsx'), 'ConnectionsPage'),
});

export const connectionRoutes = [connections] as const;
