import { isParleyError, type Outputs, type SessionUser } from '@parley/client';
import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { api } from './client.ts';
import { trpc } from './query.ts';

export type Config = Outputs['configs']['client'];

/** The account that the browser signed in to last, in any of its tabs: they share the cookie of the session. */
const KEY = 'parley.account';

/** The account whose data this tab holds. */
let shownId: string | null = null;

const lastId = () => localStorage.getItem(KEY) ?? shownId;

function remember(accountId: string): void {
  try {
    localStorage.setItem(KEY, accountId);
  } catch {
    // The store of the browser is full: an older account must not stay in it.
    localStorage.removeItem(KEY);
  }
}

/** False after a sign-in to another account in another tab: calls would then go out in the name of that one. */
export const isSignedIn = (accountId: string): boolean => lastId() === accountId;

/** A tab never shows the data of two accounts: it is loaded anew for another one. */
const leaveOthers = () => {
  if (shownId !== null && lastId() !== shownId) window.location.reload();
};
window.addEventListener('storage', ({ key }) => key === KEY && leaveOthers());

/** The account of this browser; null without a session. */
export const meQuery = queryOptions({
  queryKey: trpc.auths.whoAmI.queryKey(),
  queryFn: async (): Promise<SessionUser | null> => {
    try {
      const me = await api.auths.whoAmI.query();
      remember(me.id);
      leaveOthers();
      shownId = me.id;
      return me;
    } catch (error) {
      if (isParleyError(error) && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 5 * 60_000,
});

/** What the server tells clients of its configuration. */
export const configQuery = queryOptions({
  ...trpc.configs.client.queryOptions(),
  staleTime: 60_000,
});

export const useConfig = (): Config => useSuspenseQuery(configQuery).data;

/** The account below the shell, which is shown only to members. */
export function useMe(): SessionUser {
  const { data } = useSuspenseQuery(meQuery);
  if (!data) throw new Error('There is no session.');
  return data;
}

/** Begins with an empty cache, since all of it belongs to the account before. */
export function useSessionChange(): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    queryClient.removeQueries();
    shownId = null;
    await Promise.all([queryClient.fetchQuery(meQuery), queryClient.fetchQuery(configQuery)]);
  };
}
