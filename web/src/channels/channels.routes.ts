import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { isLiveStarted } from '../api/live.ts';
import { queryClient, trpc } from '../api/query.ts';
import { prepareOpening } from '../messages/store/opening.ts';
import { shellRoute } from '../routes/shell.route.ts';
import { ChannelView } from './ChannelView.tsx';
import { type SearchTerms, searchTerms } from './find/terms.ts';

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const home = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./Home.tsx'), 'Home'),
});

interface ChannelSearch {
  message?: string | undefined;
  thread?: string | undefined;
}

/** `message`: the message to jump to; `thread`: the thread that is open beside the main line. */
const channel = createRoute({
  getParentRoute: () => shellRoute,
  path: '/channels/$channelId',
  // A member that is left out would keep its raw value.
  validateSearch: (search: Record<string, unknown>): ChannelSearch => ({
    message: text(search.message),
    thread: text(search.thread),
  }),
  loaderDeps: ({ search: { message } }) => ({ message }),
  async loader({ params: { channelId }, deps: { message } }) {
    // A visit that begins here shows its messages at once. Later visits show the channel before its messages.
    if (isLiveStarted()) return;
    await Promise.all([
      queryClient.prefetchQuery(trpc.channels.get.queryOptions({ id: channelId })),
      queryClient.prefetchQuery(trpc.channels.list.queryOptions()),
      message === undefined && prepareOpening(channelId),
    ]);
  },
  // Not lazy, as most visits begin here.
  component: ChannelView,
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
