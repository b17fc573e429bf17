import { statement } from '../database/sql.ts';
import type { OnAccountDeleted } from '../noun.ts';

const PASS_ON_MODELS = statement<{ id: string }, { deleted: string; heir: string }>(
  'models.pass_on',
  'update model set user_id = :heir where user_id = :deleted returning id',
);

export const passOnModels: OnAccountDeleted = async (_scope, tx, { deleted, heir }) => ({
  passed: { models: (await tx.rows(PASS_ON_MODELS, { deleted, heir })).map(({ id }) => id) },
});
