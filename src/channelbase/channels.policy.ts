import { grantedIds, grantsTo, holdsGrant } from '../access/access.repository.ts';
import { ACCOUNT, CALLER, type Person } from '../core/caller.ts';
import {
  administrator,
  allowedBy,
  type Grantable,
  type Ground,
  groundsOf,
  type Rule,
} from '../core/rules.ts';

/**
 * SQL for whether members decide the rights in channel `c`: true for groups and direct channels, false for
 * standard channels.
 */
export const HAS_MEMBERS = "c.type in ('group', 'dm')";

/** @param person SQL for an id, and a condition on the membership `cm` */
const inChannel = (person: string) => `exists (
  select from channel_member cm where cm.channel_id = c.id and cm.user_id = ${person})`;

const owner: Ground = { name: 'owner', holds: ({ id }) => `c.user_id = ${id}` };
const granted = (right: 'read' | 'write'): Ground => ({
  name: 'grant',
  holds: (person) => holdsGrant('channel', 'c.id::text', right, person),
});
const member: Ground = { name: 'member', holds: ({ id }) => inChannel(id) };
const manager: Ground = { name: 'manager', holds: ({ id }) => inChannel(`${id} and cm.role = 'manager'`) };
const administratorWithin: Ground = {
  name: 'administrator',
  holds: ({ id, isAdmin }) => inChannel(`${id} and ${isAdmin}`),
};
const administratorOfGroup: Ground = {
  name: 'administrator',
  holds: ({ isAdmin }) => `c.type = 'group' and ${isAdmin}`,
};
const managerOfGroup: Ground = {
  name: 'manager',
  holds: (person) => `c.type = 'group' and ${manager.holds(person)}`,
};

export type ChannelRight = 'read' | 'write' | 'moderate' | 'manage';

/*
 * Who may do what to a channel. In group and direct channels only membership counts: an administrator cannot
 * read a channel without being a member, but can manage a group. In standard channels ownership and grants
 * count: a right to write includes the right to read; a right to read for everyone gives no right to write.
 */
const RULES: Record<ChannelRight, { withMembers: Rule; standard: Rule }> = {
  read: {
    withMembers: [member],
    standard: [administrator, owner, granted('read')],
  },
  write: {
    withMembers: [member],
    standard: [administrator, owner, granted('write')],
  },
  // Edit and delete messages of others.
  moderate: {
    withMembers: [administratorWithin, manager],
    standard: [administrator, owner, granted('write')],
  },
  // Change the channel itself, its members and its grants.
  manage: {
    withMembers: [administratorOfGroup, managerOfGroup],
    standard: [administrator, owner],
  },
};

/** SQL for whether a person has a right to the channel `c`. */
export function channelAllows(right: ChannelRight, person: Person): string {
  const { withMembers, standard } = RULES[right];
  return `case when ${HAS_MEMBERS} then ${allowedBy(withMembers, person)} else ${allowedBy(standard, person)} end`;
}

export const grantableChannels: Grantable = {
  type: 'channel',
  explain(right) {
    const { withMembers, standard } = RULES[right];
    return `select coalesce(${HAS_MEMBERS}, false) as has_members,
        case when ${HAS_MEMBERS} then ${groundsOf(withMembers, ACCOUNT)} else ${groundsOf(standard, ACCOUNT)} end as grounds
       from channel c where c.id::text = :resourceId`;
  },
};

/** SQL for the rights of the caller to the channel `c`. */
export const CAN_READ = channelAllows('read', CALLER);
export const CAN_WRITE = channelAllows('write', CALLER);
export const CAN_MODERATE = channelAllows('moderate', CALLER);
export const IS_MANAGER = channelAllows('manage', CALLER);

/**
 * SQL for whether a person may have a right to the channel `c`. Such channels are found from the person, by
 * indexes, because a person has rights to few of all channels. For an administrator they include all standard
 * channels.
 */
export const inReach = (person: Person) => `c.id in (
  select channel_id from channel_member where user_id = ${person.id}
   union select id from channel where type is null and (${person.isAdmin} or user_id = ${person.id})
   union select granted::uuid from (${grantedIds('channel', person)}) as g (granted))`;

/**
 * SQL for the channels `own` of the caller as a plain person: those with a membership, and standard ones that the caller owns or has a
 * grant for. `may_write` says whether owner or grant may write; in a channel with members, each member may.
 */
export const OWN_CHANNELS = `(select id, bool_or(may_write) as may_write from (
     select channel_id as id, false as may_write from channel_member where user_id = ${CALLER.id}
     union all select id, true from channel where type is null and user_id = ${CALLER.id}
     union all select resource_id::uuid, may_write from (${grantsTo('channel', CALLER)}) g) ground group by id) own`;

/** SQL for whether the caller may read the channel `c`; for queries over all channels. */
export const READABLE_OF_ALL = `${inReach(CALLER)} and ${CAN_READ}`;
