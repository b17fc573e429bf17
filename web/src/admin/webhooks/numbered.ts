import type { QueryKey } from '@tanstack/react-query';
import { type Pages, usePages } from '../../api/pages.ts';

const PAGE_ROWS = 50;

/** A list that the server pages by `skip` and `limit`. */
export const useNumberedPages = <Row>(
  queryKey: QueryKey,
  load: (page: { skip: number; limit: number }) => Promise<Row[]>,
): Pages<Row> =>
  usePages({
    queryKey,
    async load(cursor = '0') {
      const skip = Number(cursor);
      const rows = await load({ skip, limit: PAGE_ROWS });
      return { rows, next: rows.length < PAGE_ROWS ? null : String(skip + PAGE_ROWS) };
    },
    rowsOf: ({ rows }) => rows,
    nextOf: ({ next }) => next,
  });
