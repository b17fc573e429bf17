import { keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query';

interface Source<Page, Row> {
  /** `queryKey(input)` of the procedure, so that a change of its path renews the list. */
  queryKey: QueryKey;
  load(cursor: string | undefined): Promise<Page>;
  rowsOf(page: Page): Row[];
  /** The cursor of the page after this one; null at the end. */
  nextOf(page: Page): string | null;
  isEnabled?: boolean;
}

export interface Pages<Row> {
  /** Undefined until the first page is there. */
  rows: Row[] | undefined;
  error: unknown;
  reload(): void;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore(): void;
}

/** A list behind cursors. tRPC's own infinite queries take `direction` of the input for theirs. */
export function usePages<Page, Row>({
  queryKey,
  load,
  rowsOf,
  nextOf,
  isEnabled = true,
}: Source<Page, Row>): Pages<Row> {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => nextOf(page) ?? undefined,
    placeholderData: keepPreviousData,
    enabled: isEnabled,
  });
  return {
    rows: query.data?.pages.flatMap(rowsOf),
    error: query.error,
    reload: () => void query.refetch(),
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
  };
}
