import type { Actor, Scope } from '../../core/scope.ts';
import { completePermissions, type Permission, type Permissions } from './permissions.schema.ts';

/** Almost every call reads these. A configuration is never changed in place, so it is completed only once. */
const completed = new WeakMap<Permissions, Permissions>();

/** The configured defaults of all people, completed by the built-in ones. */
export function defaultPermissions({ configs }: Pick<Scope, 'configs'>): Permissions {
  const configured = configs.current.user.permissions;
  let complete = completed.get(configured);
  if (!complete) {
    complete = completePermissions(configured);
    completed.set(configured, complete);
  }
  return complete;
}

/** The complete permission tree of the caller: the defaults for all people, and the permissions of the caller's groups. */
export const effectivePermissions = (scope: Pick<Scope<Actor | null>, 'configs' | 'actor'>): Permissions =>
  withGranted(defaultPermissions(scope), scope.actor?.granted ?? []);

/** A tree with the permissions of groups added. */
export function withGranted(tree: Permissions, granted: readonly string[]): Permissions {
  if (granted.length === 0) return tree;
  const united = Object.fromEntries(
    Object.entries(tree).map(([section, leaves]) => [section, { ...leaves }]),
  );
  for (const name of granted) {
    const [section, leaf] = cutName(name);
    united[section] = { ...united[section], [leaf]: true };
  }
  return united;
}

/** Sections have no dots; leaves of other systems might. */
export function cutName(name: string): [section: string, leaf: string] {
  const dot = name.indexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

/** Whether the caller has a named permission. Administrators have all. */
export function may(scope: Pick<Scope, 'configs' | 'actor'>, permission: Permission): boolean {
  const { actor } = scope;
  if (actor.role === 'admin' || actor.granted.includes(permission)) return true;
  return allows(defaultPermissions(scope), permission);
}

/** Whether a tree allows a permission; a missing one is not allowed. */
export function allows(tree: Permissions, permission: string): boolean {
  const [section, leaf] = cutName(permission);
  return tree[section]?.[leaf] === true;
}
