import { completePermissions } from '../configs/settings/permissions.schema.ts';
import { defaultPermissions, withGranted } from '../configs/settings/permissions.ts';
import type { Scope } from '../core/scope.ts';
import { getGroup } from '../groups/groups.service.ts';
import { getDetail } from '../users/people.service.ts';
import { readableTools, toolsOfGroup } from './preview.repository.ts';
import type { GroupPreview, UserPreview } from './preview.schema.ts';

const absent = () => ({ items: [], total: 0 });

/** What an account may read. @throws not_found */
export async function previewUser(scope: Scope, id: string): Promise<UserPreview> {
  const { name, role, groups } = await getDetail(scope, id);
  const tools = await readableTools(scope.sql, { id, role });
  return { user: { id, name }, groups, models: absent(), knowledge: absent(), tools };
}

/** What membership of a group allows. @throws not_found */
export async function previewGroup(scope: Scope, id: string): Promise<GroupPreview> {
  const { name, permissions } = await getGroup(scope, id);
  const inherited = defaultPermissions(scope);
  const given = Object.entries(permissions ?? {}).flatMap(([section, leaves]) =>
    Object.entries(leaves).flatMap(([leaf, value]) => (value ? [`${section}.${leaf}`] : [])),
  );
  return {
    group: { id, name },
    models: absent(),
    knowledge: absent(),
    tools: await toolsOfGroup(scope.sql, id),
    permissions: permissions ?? {},
    inherited_permissions: inherited,
    effective_permissions: completePermissions(withGranted(inherited, given)),
  };
}
