import { isParleyError, type Outputs, type SessionUser } from '@parley/client';
import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { api } from './client.ts';
import { trpc } from './query.ts';

export type Config = Outputs['configs']['client'];

/** The account of this browser; null without a session. */
export const meQuery = queryOptions({
  queryKey: trpc.auths.whoAmI.queryKey(),
  queryFn: async (): Promise<SessionUser | null> => {
    try {
      return await api.auths.whoAmI.query();
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
    await Promise.all([queryClient.fetchQuery(meQuery), queryClient.fetchQuery(configQuery)]);
  };
}
