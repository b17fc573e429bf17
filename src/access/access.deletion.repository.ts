import { statement } from '../database/sql.ts';
import type { OnAccountDeleted } from '../noun.ts';

const DELETE_GRANTS_TO_USER = statement<never, { deleted: string }>(
  'access.delete_grants',
  `delete from access_grant where principal_type = 'user' and principal_id = :deleted::text`,
);

export const deleteGrantsTo: OnAccountDeleted = async (_scope, tx, { deleted }) => {
  await tx.rows(DELETE_GRANTS_TO_USER, { deleted });
  return {};
};
