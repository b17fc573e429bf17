import { completePermissions } from '../configs/settings/permissions.schema.ts';
import { defaultPermissions, withGranted } from '../configs/settings/permissions.ts';
import type { Scope } from '../core/scope.ts';
import { getGroup } from '../groups/groups.service.ts';
import { getDetail } from '../users/people.service.ts';
import { type Previewable, type Reachable, readableBy, readableInGroup } from './preview.repository.ts';
import type { GroupPreview, UserPreview } from './preview.schema.ts';

const absent = (): Reachable => ({ items: [], total: 0 });

/** The kind of things that tools are, as their noun declares it. */
const toolsOf = ({ grantable }: Scope): Previewable | undefined =>
  grantable.find((kind): kind is Previewable => kind.type === 'tool' && kind.preview !== undefined);

/** What an account may read. @throws not_found */
export async function previewUser(scope: Scope, id: string): Promise<UserPreview> {
  const { name, role, groups } = await getDetail(scope, id);
  const kind = toolsOf(scope);
  const tools = kind ? await readableBy(scope.sql, kind, { id, role }) : absent();
  return { user: { id, name }, groups, models: absent(), knowledge: absent(), tools };
}

/** What membership of a group allows. @throws not_found */
export async function previewGroup(scope: Scope, id: string): Promise<GroupPreview> {
  const { name, permissions } = await getGroup(scope, id);
  const kind = toolsOf(scope);
  const inherited = defaultPermissions(scope);
  const given = Object.entries(permissions ?? {}).flatMap(([section, leaves]) =>
    Object.entries(leaves).flatMap(([leaf, value]) => (value ? [`${section}.${leaf}`] : [])),
  );
  return {
    group: { id, name },
    models: absent(),
    knowledge: absent(),
    tools: kind ? await readableInGroup(scope.sql, kind, id) : absent(),
    permissions: permissions ?? {},
    inherited_permissions: inherited,
    effective_permissions: completePermissions(withGranted(inherited, given)),
  };
}
