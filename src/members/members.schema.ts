import { z } from 'zod';
import { id, nanoseconds } from '../core/wire.ts';

/** The most people that a group may have. */
export const MAX_MEMBERS = 1000;

/** Whom to add or remove. Who is in a user group counts as it is then. */
export const people = {
  user_ids: z.array(id()).max(MAX_MEMBERS).default([]).describe('Accounts'),
  group_ids: z
    .array(id())
    .max(100)
    .default([])
    .describe('User groups: stands for the people who are in them at the time of the call'),
};

/** That somebody belongs to a group or direct channel. */
export const MembershipView = z
  .object({
    /** The two ids, joined by a colon. */
    id: z.string(),
    channel_id: z.string(),
    user_id: z.string(),
    /** Who leaves has no membership any more. */
    status: z.literal('joined'),
    /** `manager` for those in charge of a group. */
    role: z.string().nullable(),
    /** Null when their account is gone. */
    invited_by: z.string().nullable(),
    joined_at: nanoseconds(),
  })
  .meta({ id: 'Membership' });
export type MembershipView = z.infer<typeof MembershipView>;

/** What people who share a channel may know of each other. */
export const MemberView = z
  .object({
    id: z.string(),
    name: z.string(),
    username: z.string().nullable(),
    /** Of the account. */
    role: z.string(),
    profile_image_url: z.string(),
    /** Whether they did anything within the last three minutes. */
    is_active: z.boolean(),
    created_at: z.int(),
    updated_at: z.int(),
    last_active_at: z.int(),
    /** For administrators and for the person; empty for others. */
    email: z.string(),
    /** In a group, `manager` for those in charge. */
    channel_role: z.string().nullable(),
    /** Null in a standard channel, which people read without joining. */
    joined_at: nanoseconds().nullable(),
  })
  .meta({ id: 'ChannelMember' });
export type MemberView = z.infer<typeof MemberView>;

const ORDERS = ['name', 'role', 'created_at', 'updated_at', 'last_active_at', 'joined_at', 'email'] as const;
const OF_GROUP = /^group_id:(.{1,64})$/;

/** By a column, or by who is in a group: `group_id:<id>`. */
export const MemberOrder = z.union([
  z.enum(ORDERS),
  z.string().regex(OF_GROUP, `must be ${ORDERS.join(', ')}, or group_id: and the id of a group`),
]);

/** What a page of people is ordered by. */
export type MemberOrdering =
  | { column: (typeof ORDERS)[number]; groupId?: undefined }
  | { column: 'group'; groupId: string };

export function orderingOf(order: z.infer<typeof MemberOrder>): MemberOrdering {
  const groupId = OF_GROUP.exec(order)?.[1];
  return groupId === undefined ? { column: order as (typeof ORDERS)[number] } : { column: 'group', groupId };
}
