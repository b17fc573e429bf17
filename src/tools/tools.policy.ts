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

const owner: Ground = { name: 'owner', holds: ({ id }) => `t.user_id = ${id}` };
const granted = (right: 'read' | 'write'): Ground => ({
  name: 'grant',
  holds: (person) => holdsGrant('tool', 't.id', right, person),
});

export type ToolRight = 'read' | 'write';

/* Who may do what to a tool: `read` calls it, `write` changes it, sees its source and its valves, and deletes it. */
const RULES: Record<ToolRight, Rule> = {
  read: [administrator, owner, granted('read')],
  write: [administrator, owner, granted('write')],
};

/** SQL for whether a person has a right to the tool `t`. */
export const toolAllows = (right: ToolRight, person: Person): string => allowedBy(RULES[right], person);

/** SQL for those of all tools that a person may read: as `toolAllows`, with their grants looked up once. */
export const readableOfAll = (person: Person): string =>
  `${person.isAdmin} or t.user_id = ${person.id} or t.id in (${grantedIds('tool', person)})`;

export const grantableTools: Grantable = {
  type: 'tool',
  explain: (right) =>
    `select false as has_members, ${groundsOf(RULES[right], ACCOUNT)} as grounds from tool t where t.id = :resourceId`,
  preview: { table: 'tool', readableBy: readableOfAll },
};

/** SQL for what the caller may do to the tool `t`. */
export const CAN_READ = toolAllows('read', CALLER);
export const CAN_WRITE = toolAllows('write', CALLER);
