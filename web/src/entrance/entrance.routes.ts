import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../app/root.route.ts';

/** `to`: the address to go on to after the sign-in. */
const destination = (search: Record<string, unknown>): { to?: string } =>
  typeof search.to === 'string' && /^\/(?![/\\])/.test(search.to) ? { to: search.to } : {};

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: destination,
  component: lazyRouteComponent(() => import('./SignIn.tsx'), 'SignIn'),
});

const signUp = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  validateSearch: destination,
  component: lazyRouteComponent(() => import('./SignUp.tsx'), 'SignUp'),
});

const pending = createRoute({
  getParentRoute: () => rootRoute,
  path: '/pending',
  component: lazyRouteComponent(() => import('./Pending.tsx'), 'Pending'),
});

export const entranceRoutes = [signIn, signUp, pending] as const;
