import { z } from 'zod';
import { seconds } from '../../core/wire.ts';

const freeForm = z.record(z.string(), z.unknown());

/** One state of a record. Grants, picture and the switch have no versions. */
export const ModelVersionView = z
  .object({
    id: z.string(),
    model_id: z.string(),
    snapshot: z.object({
      name: z.string(),
      base_model_id: z.string().nullable(),
      params: freeForm,
      meta: freeForm,
    }),
    user_id: z.string(),
    /** Null when the account is deleted. */
    user: z.object({ id: z.string(), name: z.string() }).nullable(),
    commit_message: z.string().nullable(),
    created_at: seconds(),
    is_current: z.boolean(),
  })
  .meta({ id: 'ModelVersion' });
export type ModelVersionView = z.infer<typeof ModelVersionView>;
