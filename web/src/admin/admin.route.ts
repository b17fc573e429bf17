import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../routes/shell.route.ts';

/** The parent of all views of the administration. Its layout lets only administrators in. */
export const adminRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/admin',
  component: lazyRouteComponent(() => import('./Administration.tsx'), 'Administration'),
});
