import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const look = createRoute({
  getParentRoute: () => adminRoute,
  path: '/look',
  component: lazyRouteComponent(() => import('./LookPage.tsx'), 'LookPage'),
});

export const lookRoutes = [look] as const;
