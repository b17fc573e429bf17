import type { Caller, Person } from './caller.ts';
import type { Role, Scope } from './scope.ts';

/** A reason for which a person may do something. */
export interface Ground {
  /** What `explain` calls it. */
  name: 'administrator' | 'owner' | 'member' | 'manager' | 'grant';
  /** SQL for whether it holds. */
  holds: (person: Person) => string;
}

/** One ground is enough. */
export type Rule = readonly Ground[];

/** SQL for whether a rule allows a person. */
export const allowedBy = (rule: Rule, person: Person): string =>
  rule.length === 0 ? 'false' : `(${rule.map(({ holds }) => holds(person)).join(' or ')})`;

/** SQL for the names of all grounds of a rule that hold, in its order. */
export const groundsOf = (rule: Rule, person: Person): string =>
  `array_remove(array[${rule.map(({ name, holds }) => `case when ${holds(person)} then '${name}' end`).join(', ')}]::text[], null)`;

/** Holds for administrators, for every resource. */
export const administrator: Ground = { name: 'administrator', holds: ({ isAdmin }) => isAdmin };

/** A kind of resource that rights can be granted to. */
export interface Grantable {
  /** As grants name it. */
  type: string;
  /** Ids are compared in lower case unless two of them may differ in case alone. */
  hasCase?: true;
  /**
   * SQL with one row for the resource `:resourceId`, none when it does not exist: `has_members`, whether membership decides instead of
   * grants, and `grounds`, the grounds on which the account of the row `u` has the right.
   */
  explain(right: 'read' | 'write'): string;
  /** What bars an account from using a thing that it may read, as a sentence; undefined when nothing does. */
  barred?(scope: Scope, account: Caller, resourceId: string): Promise<string | undefined>;
  /** The verdict for a thing that is there without a row; undefined when it is not there. */
  withoutRow?(scope: Scope, wanted: WithoutRow): { allowed: boolean; detail: string } | undefined;
  /** For lists of what an account or a group may read. */
  preview?: Previewed;
}

export interface WithoutRow {
  role: Role;
  id: string;
  right: 'read' | 'write';
}

export interface Previewed {
  /** The table of its things, with the columns `id` (text) and `name`. */
  table: string;
  /** SQL for those of its rows `t` that a person may read. */
  readableBy(person: Person): string;
}
