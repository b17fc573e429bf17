import { statement } from '../database/sql.ts';
import type { OnAccountDeleted } from '../noun.ts';

const PASS_ON_TOOLS = statement<{ id: string }, { deleted: string; heir: string }>(
  'tools.pass_on',
  'update tool set user_id = :heir where user_id = :deleted returning id',
);

export const passOnTools: OnAccountDeleted = async (_scope, tx, { deleted, heir }) => ({
  passed: { tools: (await tx.rows(PASS_ON_TOOLS, { deleted, heir })).map(({ id }) => id) },
});
