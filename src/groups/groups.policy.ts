import { CALLER } from '../core/caller.ts';
import { administrator, allowedBy, type Ground, type Rule } from '../core/rules.ts';

/** SQL for who may give rights to the group `g`: `true` is everyone, `members`, or `false`. */
export const SHARE = `coalesce(g.data #>> '{config,share}', 'members')`;

/** SQL for whether a person is in the group `g`. */
export const isIn = (userId: string): string =>
  `exists (select from group_member gm where gm.group_id = g.id and gm.user_id = ${userId})`;

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
