import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../app/shell.route.ts';

const admin = createRoute({
  getParentRoute: () => shellRoute,
  path: '/admin',
  component: lazyRouteComponent(() => import('./AdministrationPage.tsx'), 'AdministrationPage'),
});

export const adminRoutes = [admin] as const;
