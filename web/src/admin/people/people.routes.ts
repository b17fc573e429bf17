import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const people = createRoute({
  getParentRoute: () => adminRoute,
  path: '/people',
  component: lazyRouteComponent(() => import('./PeoplePage.tsx'), 'PeoplePage'),
});

export const peopleRoutes = [people] as const;
