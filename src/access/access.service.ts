import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Permission } from '../configs/permissions.schema.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { AccessGrant } from './access.entity.ts';
import type { ResourceType } from './access.repository.ts';
import type { GrantInput, GrantView } from './access.schema.ts';
import { may } from './permissions.ts';

/**
 * Leaves out what the caller may not give: rights for everyone without the resource's sharing permission, and rights for
 * single users without `access_grants.allow_users`. Silent, as `peer-wire.md` 5.3 has it; duplicates collapse.
 */
function admissible(scope: Scope, grants: GrantInput[], publicSharing: Permission): GrantInput[] {
  const mayShareWithAll = may(scope, publicSharing);
  const mayShareWithUsers = may(scope, 'access_grants.allow_users');
  const unique = new Map(grants.map((grant) => [Object.values(pick(grant)).join(' '), pick(grant)]));
  return [...unique.values()].filter(({ principal_type, principal_id }) => {
    if (principal_type === 'group') return true;
    return principal_id === '*' ? mayShareWithAll : mayShareWithUsers;
  });
}

const pick = ({ principal_type, principal_id, permission }: GrantInput): GrantInput => ({
  principal_type,
  principal_id,
  permission,
});

/** Replaces all grants of a resource, in the caller's transaction. */
export async function replaceGrants(
  scope: Scope,
  em: EntityManager,
  resource: { type: ResourceType; id: string; publicSharing: Permission },
  grants: GrantInput[],
): Promise<GrantView[]> {
  await revokeGrants(em, resource);
  const rows = admissible(scope, grants, resource.publicSharing).map((grant) => ({
    id: uuidv7(),
    resource_type: resource.type,
    resource_id: resource.id,
    ...grant,
    created_at: nowSeconds(),
  }));
  if (rows.length > 0) await em.insertMany(AccessGrant, rows);
  return rows;
}

/** Removes all grants of a resource, in the caller's transaction. */
export async function revokeGrants(
  em: EntityManager,
  resource: { type: ResourceType; id: string },
): Promise<void> {
  await em.nativeDelete(AccessGrant, { resource_type: resource.type, resource_id: resource.id });
}
