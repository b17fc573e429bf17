import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const configuration = createRoute({
  getParentRoute: () => adminRoute,
  path: '/configuration',
  component: lazyRouteComponent(() => import('./ConfigurationPage.tsx'), 'ConfigurationPage'),
});

export const configurationRoutes = [configuration] as const;
