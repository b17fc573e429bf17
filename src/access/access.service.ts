import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { record } from '../audit/audit.record.ts';
import type { Permission } from '../configs/permissions.schema.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { sqlWithin, statement } from '../database/sql.ts';
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
  const before = (await revokeGrants(em, resource)).map(describe).toSorted();
  const rows = admissible(scope, grants, resource.publicSharing).map((grant) => ({
    id: uuidv7(),
    resource_type: resource.type,
    resource_id: resource.id,
    ...grant,
    created_at: nowSeconds(),
  }));
  if (rows.length > 0) await em.insertMany(AccessGrant, rows);
  const after = rows.map(describe).toSorted();
  if (before.join() !== after.join()) {
    await record(scope, sqlWithin(em), {
      action: 'grants.update',
      target: { type: resource.type, id: resource.id },
      before: { grants: before },
      after: { grants: after },
    });
  }
  return rows;
}

/** A grant as the audit log tells it. */
const describe = ({ principal_type, principal_id, permission }: GrantInput): string =>
  `${permission} for ${principal_type} ${principal_id}`;

const REVOKE = statement<GrantInput>(
  'access_grant.revoke',
  `delete from access_grant where resource_type = $1 and resource_id = $2
   returning principal_type, principal_id, permission`,
);

/** Removes all grants of a resource, in the caller's transaction. Returns those that there were. */
export async function revokeGrants(
  em: EntityManager,
  resource: { type: ResourceType; id: string },
): Promise<GrantInput[]> {
  return sqlWithin(em).rows(REVOKE, [resource.type, resource.id]);
}
