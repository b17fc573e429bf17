import type { Outputs } from '@parley/client';

export type Group = Outputs['groups']['get'];

/** Who may give rights to a group, as the values of a field. */
export const SHARES = ['members', 'all', 'administrators'] as const;
export type Share = (typeof SHARES)[number];

/** `data.config.share` is `"members"`, true for all people, or false for administrators alone. */
export function shareOf({ data }: Pick<Group, 'data'>): Share {
  const { share } = (data.config ?? {}) as { share?: unknown };
  if (share === true) return 'all';
  return share === false ? 'administrators' : 'members';
}

/** The group's `data` with another rule; other members of it stay. */
export const withShare = (data: Group['data'], share: Share) => ({
  ...data,
  config: {
    ...(data.config as object | undefined),
    share: { members: 'members', all: true, administrators: false }[share],
  },
});

/** The groups that can be above a group: all but the group itself and the groups below it. Any group for a new one. */
export function possibleParents<Row extends Pick<Group, 'id' | 'parent_group_id'>>(
  groups: Row[],
  id: string | undefined,
): Row[] {
  const below = new Set(id === undefined ? [] : [id]);
  // A set tells members that are added while it is read.
  for (const parent of below)
    for (const group of groups) if (group.parent_group_id === parent) below.add(group.id);
  return groups.filter((group) => !below.has(group.id));
}
