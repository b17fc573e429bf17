import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../app/shell.route.ts';
import { type SearchTerms, searchTerms } from './find/terms.ts';

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const home = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./Home.tsx'), 'Home'),
});

/** `message`: the message to jump to; `thread`: the thread that is open beside the main line. */
const channel = createRoute({
  getParentRoute: () => shellRoute,
  path: '/channels/$channelId',
  validateSearch: (search: Record<string, unknown>): { message?: string; thread?: string } => ({
    ...(text(search.message) && { message: text(search.message) }),
    ...(text(search.thread) && { thread: text(search.thread) }),
  }),
  component: lazyRouteComponent(() => import('./ChannelView.tsx'), 'ChannelView'),
});

const search = createRoute({
  getParentRoute: () => shellRoute,
  path: '/search',
  validateSearch: (given: Record<string, unknown>): SearchTerms => searchTerms(given),
  component: lazyRouteComponent(() => import('./find/SearchView.tsx'), 'SearchView'),
});

const threads = createRoute({
  getParentRoute: () => shellRoute,
  path: '/threads',
  component: lazyRouteComponent(() => import('./find/ThreadsView.tsx'), 'ThreadsView'),
});

export const channelRoutes = [home, channel, search, threads] as const;
