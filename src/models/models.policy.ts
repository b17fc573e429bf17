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
  holds: (person) => holdsGrant('model', 't.id', right, person),
});

export type ModelRight = 'read' | 'write';

/*
 * Who may do what to a record: `read` calls the model, `write` sees its prompt and parameters, changes and deletes it. A call also
 * needs `read` for each record on the way to the base (`models.chain.ts`).
 */
const RULES: Record<ModelRight, Rule> = {
  read: [administrator, owner, granted('read')],
  write: [administrator, owner, granted('write')],
};

/** SQL for those of all records `t` that a person may read: the person's grants are looked up once. */
export const readableOfAll = (person: Person): string =>
  `(${person.isAdmin} or t.user_id = ${person.id} or t.id in (${grantedIds('model', person)}))`;

export const grantableModels: Grantable = {
  type: 'model',
  hasCase: true,
  explain: (right) =>
    `select false as has_members, ${groundsOf(RULES[right], ACCOUNT)} as grounds from model t where t.id = :resourceId`,
  preview: { table: 'model', readableBy: readableOfAll },
};

/** SQL for what the caller may do to the record `t`. */
export const CAN_READ = allowedBy(RULES.read, CALLER);
export const CAN_WRITE = allowedBy(RULES.write, CALLER);
