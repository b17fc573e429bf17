import { changeSettings } from '../configs/configs.service.ts';
import { completePermissions, type Permissions } from '../configs/settings/permissions.schema.ts';
import { defaultPermissions } from '../configs/settings/permissions.ts';
import type { Scope } from '../core/scope.ts';

/** Replaces the default permissions. @returns those in force afterwards @throws config_locked */
export async function replaceDefaultPermissions(scope: Scope, sent: Permissions): Promise<Permissions> {
  await changeSettings(scope, [{ path: 'user.permissions', value: completePermissions(sent) }]);
  return defaultPermissions(scope);
}
