import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const configuration = createRoute({
  getParentRoute: () => adminRoute,
  path: '/configuration',
  component: lazyRouteComponent(() => import('./ConfigurationPage.tsx'), 'ConfigurationPage'),
});

const history = createRoute({
  getParentRoute: () => adminRoute,
  path: '/configuration/history',
  component: lazyRouteComponent(() => import('./HistoryPage.tsx'), 'HistoryPage'),
});

export const configurationRoutes = [configuration, history] as const;
