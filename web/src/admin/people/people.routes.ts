import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';
import { type PeopleSearch, searchOf } from './search.ts';

const people = createRoute({
  getParentRoute: () => adminRoute,
  path: '/people',
  validateSearch: (search: Record<string, unknown>): PeopleSearch => searchOf(search),
  component: lazyRouteComponent(() => import('./PeoplePage.tsx'), 'PeoplePage'),
});

const person = createRoute({
  getParentRoute: () => adminRoute,
  path: '/people/$userId',
  component: lazyRouteComponent(() => import('./PersonPage.tsx'), 'PersonPage'),
});

export const peopleRoutes = [people, person] as const;
