import { grantedIds, holdsGrant } from '../access/access.repository.ts';
import { ACCOUNT, CALLER, type Person } from '../core/caller.ts';
import {
  administrator,
  allowedBy,
  type Grantable,
  type Ground,
  groundsOf,
  type Rule,
} from '../core/rules.ts';

/** SQL for whether the channel `c` goes by membership: groups and direct channels. All others are standard channels. */
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
 * Who may do what to a channel. Group and direct channels go by membership alone: an administrator does not read one that they are
 * not in, though they may manage a group. Standard channels go by ownership and grants: a right to write is one to read, and a
 * right to read that everyone has gives no right to write.
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

/** SQL for what the caller may do to the channel `c`. */
export const CAN_READ = channelAllows('read', CALLER);
export const CAN_WRITE = channelAllows('write', CALLER);
export const CAN_MODERATE = channelAllows('moderate', CALLER);
export const IS_MANAGER = channelAllows('manage', CALLER);

/**
 * SQL for whether a person has to do with the channel `c`, so that it makes sense to ask what they may do. Such channels are found
 * from the person's side, by indexes: hardly any of all channels are theirs. To an administrator every standard channel counts.
 */
export const inReach = (person: Person) => `c.id in (
  select channel_id from channel_member where user_id = ${person.id}
   union select id from channel where type is null and (${person.isAdmin} or user_id = ${person.id})
   union select granted::uuid from (${grantedIds('channel', person)}) as g (granted))`;

/** SQL for those of all channels that the caller may read. */
export const READABLE_OF_ALL = `${inReach(CALLER)} and ${CAN_READ}`;
