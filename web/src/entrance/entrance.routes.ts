import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from '../routes/root.route.ts';
import { takeDestination } from './destination.ts';

interface Search {
  /** The address to go on to after the sign-in. */
  to?: string | undefined;
  /** Why the sign-in at a provider failed, in the words of the server. */
  error?: string | undefined;
  /** True after the waiting page: an approval ends the session. */
  hasWaited?: true | undefined;
}

/** Paths of this page alone: `//host` and `/\host` lead elsewhere. */
const isOwnPath = (value: unknown): value is string =>
  typeof value === 'string' && /^\/(?![/\\])/.test(value);

// A member that is left out would keep its raw value.
const readSearch = ({ to, error, hasWaited }: Record<string, unknown>): Search => ({
  to: isOwnPath(to) ? to : undefined,
  error: typeof error === 'string' ? error.slice(0, 500) : undefined,
  hasWaited: hasWaited === true || undefined,
});

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./SignIn.tsx'), 'SignIn'),
});

const signUp = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./SignUp.tsx'), 'SignUp'),
});

const pending = createRoute({
  getParentRoute: () => rootRoute,
  path: '/pending',
  component: lazyRouteComponent(() => import('./Pending.tsx'), 'Pending'),
});

/** Where a provider of sign-ins sends the browser back. */
const back = createRoute({
  getParentRoute: () => rootRoute,
  path: '/auth',
  validateSearch: readSearch,
  beforeLoad({ search: { error } }) {
    const to = takeDestination();
    if (error === undefined) throw redirect({ to: isOwnPath(to) ? to : '/', replace: true });
    throw redirect({ to: '/sign-in', search: { error, ...(isOwnPath(to) && { to }) }, replace: true });
  },
});

export const entranceRoutes = [signIn, signUp, pending, back] as const;
