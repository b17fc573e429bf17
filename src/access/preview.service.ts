import { completePermissions } from '../configs/settings/permissions.schema.ts';
import { defaultPermissions, withGranted } from '../configs/settings/permissions.ts';
import type { Scope } from '../core/scope.ts';
import { getGroup } from '../groups/groups.service.ts';
import { getDetail } from '../users/people.service.ts';
import type { ResourceType } from './access.schema.ts';
import { type Previewable, type Reachable, readableBy, readableInGroup } from './preview.repository.ts';
import type { GroupPreview, UserPreview } from './preview.schema.ts';

const absent = (): Reachable => ({ items: [], total: 0 });

/** Those things of a type that `read` finds, where a noun declares a preview of the type. */
async function within(
  { grantable }: Scope,
  type: ResourceType,
  read: (kind: Previewable) => Promise<Reachable>,
): Promise<Reachable> {
  const kind = grantable.find((one): one is Previewable => one.type === type && one.preview !== undefined);
  return kind ? read(kind) : absent();
}

/** What an account may read. @throws not_found */
export async function previewUser(scope: Scope, id: string): Promise<UserPreview> {
  const { name, role, groups } = await getDetail(scope, id);
  const read = (kind: Previewable) => readableBy(scope.sql, kind, { id, role });
  const [models, tools] = await Promise.all([within(scope, 'model', read), within(scope, 'tool', read)]);
  return { user: { id, name }, groups, models, knowledge: absent(), tools };
}

/** What membership of a group allows. @throws not_found */
export async function previewGroup(scope: Scope, id: string): Promise<GroupPreview> {
  const { name, permissions } = await getGroup(scope, id);
  const read = (kind: Previewable) => readableInGroup(scope.sql, kind, id);
  const [models, tools] = await Promise.all([within(scope, 'model', read), within(scope, 'tool', read)]);
  const inherited = defaultPermissions(scope);
  const given = Object.entries(permissions ?? {}).flatMap(([section, leaves]) =>
    Object.entries(leaves).flatMap(([leaf, value]) => (value ? [`${section}.${leaf}`] : [])),
  );
  return {
    group: { id, name },
    models,
    knowledge: absent(),
    tools,
    permissions: permissions ?? {},
    inherited_permissions: inherited,
    effective_permissions: completePermissions(withGranted(inherited, given)),
  };
}
