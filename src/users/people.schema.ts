import { z } from 'zod';
import { LIMITS, label } from '../core/wire.ts';
import { USER_ORDERS } from './users.repository.ts';

/** How people are listed: by numbered pages, or each page behind the one before, which takes as long anywhere. */
export const pageInput = z.object({
  query: label().optional(),
  order_by: z.enum(USER_ORDERS).default('created_at'),
  direction: z.enum(['asc', 'desc']).optional(),
  page: z.int().min(1).max(1_000_000).default(1),
  limit: z.int().min(1).max(LIMITS.pageSize).default(30),
  cursor: label(1024).optional().describe('The next_cursor of the page before; `page` does not count then'),
});
export type PageInput = z.infer<typeof pageInput>;

/** A page of a view. */
export const pageOf = <View extends z.ZodType>(view: View) =>
  z.object({
    users: z.array(view),
    total: z.int().optional().describe('How many there are in all; left out behind a cursor'),
    next_cursor: z.string().nullable(),
  });
