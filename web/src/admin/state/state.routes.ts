import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const state = createRoute({
  getParentRoute: () => adminRoute,
  path: '/state',
  component: lazyRouteComponent(() => import('./StatePage.tsx'), 'StatePage'),
});

export const stateRoutes = [state] as const;
