import { z } from 'zod';
import { id, nanoseconds } from '../core/wire.ts';

/** The maximum of members in a group. */
export const MAX_MEMBERS = 1000;

/** The people to add or remove. For a user group: its members at the time of the call. */
export const people = {
  user_ids: z.array(id()).max(MAX_MEMBERS).default([]).describe('Accounts'),
  group_ids: z
    .array(id())
    .max(100)
    .default([])
    .describe('User groups: stands for the people who are in them at the time of the call'),
};

/** The membership of a person in a group or direct channel. */
export const MembershipView = z
  .object({
    /** The two ids, joined by a colon. */
    id: z.string(),
    channel_id: z.string(),
    user_id: z.string(),
    /** A person who leaves has no membership. */
    status: z.literal('joined'),
    /** `manager` for the managers of a group. */
    role: z.string().nullable(),
    /** Null if the account was deleted. */
    invited_by: z.string().nullable(),
    joined_at: nanoseconds(),
  })
  .meta({ id: 'Membership' });
export type MembershipView = z.infer<typeof MembershipView>;

/** What people of a channel may know about each other. */
export const MemberView = z
  .object({
    id: z.string(),
    name: z.string(),
    username: z.string().nullable(),
    /** The role of the account. */
    role: z.string(),
    profile_image_url: z.string(),
    /** Whether the person was active within the last three minutes. */
    is_active: z.boolean(),
    created_at: z.int(),
    updated_at: z.int(),
    last_active_at: z.int(),
    /** For administrators and the person; empty for others. */
    email: z.string(),
    /** In a group, `manager` for its managers. */
    channel_role: z.string().nullable(),
    /** Null in a standard channel, which has no members. */
    joined_at: nanoseconds().nullable(),
  })
  .meta({ id: 'ChannelMember' });
export type MemberView = z.infer<typeof MemberView>;

const ORDERS = ['name', 'role', 'created_at', 'updated_at', 'last_active_at', 'joined_at', 'email'] as const;
const OF_GROUP = /^group_id:(.{1,64})$/;

/** A column, or membership of a group: `group_id:<id>`. */
export const MemberOrder = z.union([
  z.enum(ORDERS),
  z.string().regex(OF_GROUP, `must be ${ORDERS.join(', ')}, or group_id: and the id of a group`),
]);

/** The order of a page of people. */
export type MemberOrdering =
  | { column: (typeof ORDERS)[number]; groupId?: undefined }
  | { column: 'group'; groupId: string };

export function orderingOf(order: z.infer<typeof MemberOrder>): MemberOrdering {
  const groupId = OF_GROUP.exec(order)?.[1];
  return groupId === undefined ? { column: order as (typeof ORDERS)[number] } : { column: 'group', groupId };
}
