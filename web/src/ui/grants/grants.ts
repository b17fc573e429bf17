import { useMe } from '../../api/session.ts';

/** A right as the server takes it: `{user, *}` is everyone. */
export interface Grant {
  principal_type: string;
  principal_id: string;
  permission: string;
}

/** What `create`, `update` and `updateAccess` of the API take. */
export interface GrantInput {
  principal_type: 'user' | 'group';
  principal_id: string;
  permission: 'read' | 'write';
}

export type Resource = 'channel' | 'tool' | 'model';
export type Right = 'read' | 'write';

/** The rights of one person or group; `write` includes `read`. */
export interface GrantRow {
  type: 'user' | 'group';
  id: string;
  right: Right;
}

export const EVERYONE = { type: 'user', id: '*' } as const;

/** One row for each person and group, with the larger of their rights. */
export function rowsOf(grants: Grant[]): GrantRow[] {
  const rows = new Map<string, GrantRow>();
  for (const { principal_type, principal_id, permission } of grants) {
    const type = principal_type === 'group' ? 'group' : 'user';
    const key = `${type} ${principal_id}`;
    const right = permission === 'write' || rows.get(key)?.right === 'write' ? 'write' : 'read';
    rows.set(key, { type, id: principal_id, right });
  }
  return [...rows.values()];
}

/** Clients of Open WebUI look for `read` beside `write`, so both are stored. */
export const grantsOf = (rows: GrantRow[]): GrantInput[] =>
  rows.flatMap(({ type, id, right }) =>
    (right === 'write' ? (['read', 'write'] as const) : (['read'] as const)).map((permission) => ({
      principal_type: type,
      principal_id: id,
      permission,
    })),
  );

/** The grants of a view in the form of an input. */
export const grantInputs = (grants: Grant[]): GrantInput[] => grantsOf(rowsOf(grants));

/** The rows with another right for one person or group; null takes it away. */
export function withRight(
  rows: GrantRow[],
  { type, id }: Pick<GrantRow, 'type' | 'id'>,
  right: Right | null,
): GrantRow[] {
  const isIt = (row: GrantRow) => row.type === type && row.id === id;
  if (!right) return rows.filter((row) => !isIt(row));
  if (rows.some(isIt)) return rows.map((row) => (isIt(row) ? { ...row, right } : row));
  return [...rows, { type, id, right }];
}

/** With whom the person may share: the server refuses or leaves out the rest. */
export function useSharing(resource: Resource): { withAll: boolean; withUsers: boolean } {
  const { role, permissions } = useMe();
  if (role === 'admin') return { withAll: true, withUsers: true };
  return {
    withAll: permissions.sharing?.[`public_${resource}s`] === true,
    withUsers: permissions.access_grants?.allow_users === true,
  };
}
