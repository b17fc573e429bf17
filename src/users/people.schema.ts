import { z } from 'zod';
import { LIMITS, label } from '../core/wire.ts';
import { USER_ORDERS, UserInfo, type UserOrder } from './users.schema.ts';

const OF_GROUP = /^group_id:(.{1,64})$/;

/** The sort order of a page of people. */
export function orderOf(order: PageInput['order_by']): { order_by: UserOrder; group_id?: string } {
  const group_id = OF_GROUP.exec(order)?.[1];
  return group_id === undefined ? { order_by: order as UserOrder } : { order_by: 'group_id', group_id };
}

/**
 * Two kinds of pages: numbered pages, and pages after a cursor. A cursor page takes the same time at any
 * position.
 */
export const pageInput = z.object({
  query: label().optional().describe('Only accounts that match; absent for all'),
  order_by: z
    .union([
      z.enum(USER_ORDERS),
      z.string().regex(OF_GROUP, `must be ${USER_ORDERS.join(', ')}, or group_id: and the id of a group`),
    ])
    .default('created_at')
    .describe('By a member, or by membership of one group: `group_id:<id>`, which is for administrators'),
  direction: z
    .enum(['asc', 'desc'])
    .optional()
    .describe('Without it `desc` for `created_at` and `group_id:<id>`, else `asc`'),
  page: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1)
    .describe('The number of the page, from 1; ignored with a cursor'),
  limit: z.int().min(1).max(LIMITS.pageSize).default(30),
  cursor: label(1024)
    .optional()
    .describe('The `next_cursor` of the page before, which had the same order; `page` is ignored then'),
});
export type PageInput = z.infer<typeof pageInput>;

/** A page of a view. */
export const pageOf = <View extends z.ZodType>(view: View) =>
  z.object({
    users: z.array(view),
    total: z.int().optional().describe('How many there are in all; left out with a cursor'),
    next_cursor: z.string().nullable(),
  });

export const GroupMembers = z
  .object({
    items: z.array(
      UserInfo.extend({
        /** `inherited`: added only to groups below. */
        membership_type: z.enum(['direct', 'inherited']),
        via_group_ids: z.array(z.string()).describe('The groups below to which the person was added'),
      }),
    ),
    total: z.int().describe('How many match'),
    counts: z.object({ direct: z.int(), effective: z.int(), inherited: z.int() }),
  })
  .meta({ id: 'GroupMembers' });
export type GroupMembers = z.infer<typeof GroupMembers>;
