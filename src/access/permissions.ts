import { completePermissions, type Permission, type Permissions } from '../configs/permissions.schema.ts';
import type { Actor, Scope } from '../core/scope.ts';

/** Almost every call asks; a configuration is never changed in place, so each needs completing but once. */
const completed = new WeakMap<Permissions, Permissions>();

/** The complete permission tree of a user: the configured defaults, completed by the built-in ones. */
export function effectivePermissions(scope: Pick<Scope<Actor | null>, 'configs'>): Permissions {
  const configured = scope.configs.current.user.permissions;
  let complete = completed.get(configured);
  if (!complete) {
    complete = completePermissions(configured);
    completed.set(configured, complete);
  }
  return complete;
}

/** Whether the caller has a named permission. Administrators have all. */
export function may(scope: Pick<Scope, 'configs' | 'actor'>, permission: Permission): boolean {
  if (scope.actor.role === 'admin') return true;
  const [section = '', leaf = ''] = permission.split('.');
  return effectivePermissions(scope)[section]?.[leaf] === true;
}
