import { isParleyError } from '@parley/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import type { TRPCClient } from '@trpc/client';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { showError } from '../base/errors.ts';
import { api } from './client.ts';
import type { PageRouter } from './router.ts';

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: {
      /** True where the form shows the error itself. */
      showsError?: boolean;
    };
  }
}

const MAX_ATTEMPTS = 3;

/** Only failures that may pass are tried again: no answer, a restart of the server, an outage behind it. */
const mayPass = (error: unknown) => isParleyError(error) && (error.status === 0 || error.status >= 502);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 30_000, retry: (failures, error) => mayPass(error) && failures < MAX_ATTEMPTS },
    mutations: { retry: false },
  },
  queryCache: new QueryCache({ onError: noticeEnd }),
  mutationCache: new MutationCache({
    onError(error, _variables, _result, mutation) {
      noticeEnd(error);
      if (!mutation.meta?.showsError) showError(error);
    },
  }),
});

// The client of the page is a client of tRPC; `Api` is its published type.
export const trpc = createTRPCOptionsProxy<PageRouter>({
  client: api as unknown as TRPCClient<PageRouter>,
  queryClient,
});

const whoAmI = () => trpc.auths.whoAmI.queryKey();

/** A session that ended, anywhere, leads to the sign-in page: see `useMe`. */
export function noticeEnd(error: unknown): void {
  if (!isParleyError(error) || error.status !== 401) return;
  if (queryClient.getQueryData(whoAmI()) != null) void queryClient.invalidateQueries({ queryKey: whoAmI() });
}
