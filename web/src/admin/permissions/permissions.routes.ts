import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const permissions = createRoute({
  getParentRoute: () => adminRoute,
  path: '/permissions',
  component: lazyRouteComponent(() => import('./PermissionsPage.tsx'), 'PermissionsPage'),
});

export const permissionRoutes = [permissions] as const;
