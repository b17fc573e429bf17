import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { trpc } from '../../api/query.ts';

/** A person or a group, to whom rights are given. */
export interface Principal {
  type: 'user' | 'group';
  id: string;
  /** Null while it loads, and where the account or group is gone. */
  name: string | null;
}

const SEARCH_DELAY_MS = 150;
/** Names change rarely, and each row of a list asks for one. */
const NAME_STALE_MS = 5 * 60_000;

/** People whose name or address matches, the first page of them. */
export function usePeopleSearch(query: string, isEnabled = true) {
  const [wanted] = useDebouncedValue(query.trim(), SEARCH_DELAY_MS);
  return useQuery(
    trpc.people.search.queryOptions(
      { ...(wanted && { query: wanted }), limit: 20 },
      { enabled: isEnabled, placeholderData: keepPreviousData },
    ),
  );
}

/** The groups that the caller may share with. */
export const useShareableGroups = (isEnabled = true) =>
  useQuery(trpc.groups.list.queryOptions({ share: true }, { enabled: isEnabled }));

/** The names of people and groups, by their ids. */
export function useNames(principals: Pick<Principal, 'type' | 'id'>[]): Map<string, string> {
  const people = principals.filter(({ type, id }) => type === 'user' && id !== '*');
  const groups = principals.filter(({ type }) => type === 'group');
  const options = { staleTime: NAME_STALE_MS, retry: false };
  const found = useQueries({
    queries: people.map(({ id }) => trpc.people.info.queryOptions({ id }, options)),
  });
  const foundGroups = useQueries({
    queries: groups.map(({ id }) => trpc.groups.info.queryOptions({ id }, options)),
  });
  const known = [...found, ...foundGroups].flatMap(({ data }) => (data ? [data] : []));
  return new Map(known.map(({ id, name }) => [id, name]));
}
