import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

/** `user`: the account that "why may this person do that" begins with. */
const permissions = createRoute({
  getParentRoute: () => adminRoute,
  path: '/permissions',
  validateSearch: (search: Record<string, unknown>): { view?: 'explain'; user?: string } => ({
    ...(search.view === 'explain' && { view: 'explain' as const }),
    ...(typeof search.user === 'string' && { user: search.user }),
  }),
  component: lazyRouteComponent(() => import('./PermissionsPage.tsx'), 'PermissionsPage'),
});

export const permissionRoutes = [permissions] as const;
