import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const usage = createRoute({
  getParentRoute: () => adminRoute,
  path: '/usage',
  component: lazyRouteComponent(() => import('./UsagePage.tsx'), 'UsagePage'),
});

export const usageRoutes = [usage] as const;
