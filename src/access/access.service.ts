import { v7 as uuidv7 } from 'uuid';
import { record } from '../audit/audit.record.ts';
import type { Permission } from '../configs/settings/permissions.schema.ts';
import { may } from '../configs/settings/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import type { Sql } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { listShareable } from '../groups/groups.repository.ts';
import { AccessGrant } from './access.entity.ts';
import { REVOKE } from './access.repository.ts';
import type { GrantInput, GrantView, ResourceType } from './access.schema.ts';

interface Resource {
  type: ResourceType;
  id: string;
}

/**
 * The grants that may be stored, each once. Grants to everyone are left out, as in Open WebUI, when the caller may not give them.
 * Other grants that the caller may not give are refused, unless they are stored already: clients send back the whole list.
 *
 * @throws forbidden naming a group that the caller may not share with, or a user when the caller may share only with groups
 */
async function admissible(
  scope: Scope,
  sql: Sql,
  {
    grants,
    standing,
    publicSharing,
  }: { grants: GrantInput[]; standing: string[]; publicSharing: Permission },
): Promise<GrantInput[]> {
  const mayShareWithAll = may(scope, publicSharing);
  const asked = [...new Map(grants.map((grant) => [describe(grant), pick(grant)])).values()];
  const admitted = asked.filter((grant) => !isToAll(grant) || mayShareWithAll);
  const added = admitted.filter((grant) => !isToAll(grant) && !standing.includes(describe(grant)));
  const toGroups = added.filter(({ principal_type }) => principal_type === 'group');
  const groups = await shareable(scope, sql, toGroups);
  const mayShareWithUsers = may(scope, 'access_grants.allow_users');
  const refused = added.find(({ principal_type, principal_id }) =>
    principal_type === 'group' ? !groups.has(principal_id) : !mayShareWithUsers,
  );
  if (!refused) return admitted;
  throw new AppError('forbidden', {
    detail: `access_grants: you may not share with the ${refused.principal_type} ${refused.principal_id}.`,
  });
}

const isToAll = ({ principal_type, principal_id }: GrantInput) =>
  principal_type === 'user' && principal_id === '*';

/** The ids of the groups that the caller may share with. Administrators may also name groups that do not exist here. */
async function shareable(scope: Scope, sql: Sql, toGroups: GrantInput[]): Promise<Set<string>> {
  const named = toGroups.map(({ principal_id }) => principal_id);
  if (named.length === 0 || scope.actor.role === 'admin') return new Set(named);
  return new Set(await listShareable(sql, scope.actor, named));
}

const pick = ({ principal_type, principal_id, permission }: GrantInput): GrantInput => ({
  principal_type,
  principal_id,
  permission,
});

/** Replaces all grants of a resource, in the caller's transaction. @throws forbidden for a grant that the caller may not give */
export async function replaceGrants(
  scope: Scope,
  tx: Transaction,
  resource: Resource & { publicSharing: Permission },
  grants: GrantInput[],
): Promise<GrantView[]> {
  const before = (await revokeGrants(tx, resource)).map(describe).toSorted();
  const { publicSharing } = resource;
  const allowed = await admissible(scope, tx, { grants, standing: before, publicSharing });
  const rows = allowed.map((grant) => ({
    id: uuidv7(),
    resource_type: resource.type,
    resource_id: resource.id,
    ...grant,
    created_at: nowSeconds(),
  }));
  if (rows.length > 0) await tx.em.insertMany(AccessGrant, rows);
  const after = rows.map(describe).toSorted();
  if (before.join() !== after.join()) {
    await record(scope, tx, {
      action: 'grants.update',
      target: { type: resource.type, id: resource.id },
      before: { grants: before },
      after: { grants: after },
    });
  }
  return rows;
}

/** A grant as text, for the audit log. */
const describe = ({ principal_type, principal_id, permission }: GrantInput): string =>
  `${permission} for ${principal_type} ${principal_id}`;

/** Removes all grants of a resource, in the caller's transaction. Returns the removed grants. */
export async function revokeGrants(sql: Sql, resource: Resource): Promise<GrantInput[]> {
  return sql.rows(REVOKE, { type: resource.type, id: resource.id });
}
