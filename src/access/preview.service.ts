import { completePermissions, type Permissions } from '../configs/settings/permissions.schema.ts';
import { defaultPermissions, withGranted } from '../configs/settings/permissions.ts';
import type { Scope } from '../core/scope.ts';
import { getPermissions } from '../groups/groups.service.ts';
import { getDetail } from '../users/people.service.ts';
import { type Reach, type Reachable, readableBy, readableInGroup } from './preview.repository.ts';
import type { GroupPreview, UserPreview } from './preview.schema.ts';

const NOTHING: Reachable = { items: [], total: 0 };

/** The lists of a preview. */
const listsOf = ({ model = NOTHING, tool = NOTHING }: Reach) => ({
  models: model,
  knowledge: NOTHING,
  tools: tool,
});

/** What an account may read. @throws not_found */
export async function previewUser(scope: Scope, id: string): Promise<UserPreview> {
  const { name, role } = await getDetail(scope, id);
  const { groups, reach } = await readableBy(scope.sql, scope.grantable, { id, role });
  return { user: { id, name }, groups, ...listsOf(reach) };
}

/** The names of the permissions that a tree gives. */
const namesIn = (tree: Permissions | null) =>
  Object.entries(tree ?? {}).flatMap(([section, leaves]) =>
    Object.entries(leaves).flatMap(([leaf, value]) => (value ? [`${section}.${leaf}`] : [])),
  );

/** What membership of a group allows. @throws not_found */
export async function previewGroup(scope: Scope, id: string): Promise<GroupPreview> {
  const { name, permissions, inherited: above } = await getPermissions(scope, id);
  const reach = await readableInGroup(scope.sql, scope.grantable, id);
  const inherited = withGranted(defaultPermissions(scope), above.flatMap(namesIn));
  return {
    group: { id, name },
    ...listsOf(reach),
    permissions: permissions ?? {},
    inherited_permissions: inherited,
    effective_permissions: completePermissions(withGranted(inherited, namesIn(permissions))),
  };
}
