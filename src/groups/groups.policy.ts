import { CALLER } from '../core/caller.ts';
import { administrator, allowedBy, type Ground, type Rule } from '../core/rules.ts';

/** SQL for who may give rights to the group `g`: `true` is everyone, `members`, or `false`. */
export const SHARE = `coalesce(g.data #>> '{config,share}', 'members')`;

/**
 * SQL for the ids of the groups that a person is in: the groups that they were added to, and all groups above
 * these. An id may come more than once.
 */
export const groupsOf = (userId: string): string =>
  `select gm.group_id from group_member gm where gm.user_id = ${userId}
    union all
   select ga.ancestor_id from group_member gm join group_ancestor ga on ga.group_id = gm.group_id where gm.user_id = ${userId}`;

/** SQL for the ids of the people in some groups or in groups below them. An id may come more than once. */
export const peopleOf = (groupIds: string): string =>
  `select gm.user_id from group_member gm where gm.group_id in (${groupIds})
    union all
   select gm.user_id from group_ancestor ga join group_member gm on gm.group_id = ga.group_id where ga.ancestor_id in (${groupIds})`;

/** SQL for the ids of the groups above the group `:groupId`. */
export const ANCESTORS = 'select ga.ancestor_id from group_ancestor ga where ga.group_id = :groupId';

/** SQL for whether a person is in the group `g`. */
export const isIn = (userId: string): string => `g.id in (${groupsOf(userId)})`;

const member: Ground = { name: 'member', holds: ({ id }) => isIn(id) };
const memberOfSharing: Ground = {
  name: 'member',
  holds: ({ id }) => `(${SHARE} = 'members' and ${isIn(id)})`,
};
const sharedWithEveryone: Ground = { name: 'grant', holds: () => `${SHARE} = 'true'` };

/* Who may do what to a group: see it, and name it in grants. Only administrators change groups. */
const SHARE_WITH: Rule = [administrator, sharedWithEveryone, memberOfSharing];
const SEE: Rule = [member, ...SHARE_WITH];

/** SQL for the rights of the caller to the group `g`. */
export const IS_IN = allowedBy([member], CALLER);
export const CAN_SEE = allowedBy(SEE, CALLER);
export const CAN_SHARE_WITH = allowedBy(SHARE_WITH, CALLER);
/** The same without the rights of administrators, who have these rights to every group. */
export const CAN_SHARE_WITH_AS_MEMBER = allowedBy([sharedWithEveryone, memberOfSharing], CALLER);
