import { z } from 'zod';
import { GrantView, grantList } from '../../access/access.schema.ts';
import { shownName } from '../../core/wire.ts';
import { ModelMeta, ModelParams, modelId, newModelId, PICTURES } from '../models.schema.ts';

const MOST = 500;
const freeForm = z.record(z.string(), z.unknown());

/** An import: an export, whose entries are checked one by one. */
export const modelImportForm = z.object({ models: z.array(z.unknown()).max(MOST) });
/** A whole set of records; an empty one would delete all. */
export const modelSyncForm = z.object({ models: modelImportForm.shape.models.min(1) });

/** The members of an exported record that are read. Grants name people of the server that made the export. */
export const ImportedModel = z.object(
  {
    id: newModelId(),
    base_model_id: modelId().nullish(),
    name: shownName(),
    params: ModelParams.nullish(),
    meta: ModelMeta.nullish(),
    is_active: z.boolean().nullish(),
  },
  'must be a model: an object with id and name',
);
export type ImportedModel = z.infer<typeof ImportedModel>;

export const SyncedModel = ImportedModel.extend({ access_grants: grantList().nullish() });

const Metadata = z.looseObject({ meta: z.record(z.string(), z.unknown()) });

/**
 * An entry without the pictures that are not stored here: exports of other systems have addresses of other servers. The second member
 * says what was left out.
 */
export function withoutForeignPictures(entry: unknown): [entry: unknown, warnings: string[]] {
  const parsed = Metadata.safeParse(entry);
  if (!parsed.success) return [entry, []];
  const meta = { ...parsed.data.meta };
  const foreign = Object.entries(PICTURES).filter(
    ([name, schema]) => !schema.nullish().safeParse(meta[name]).success,
  );
  for (const [name] of foreign) delete meta[name];
  return [
    { ...parsed.data, meta },
    foreign.map(([name]) => `meta.${name} was left out: it is no picture of this server.`),
  ];
}

const said = z.string().max(256).nullable().catch(null);
/** The identification of an entry that is not a model. */
export const Unusable = z.object({ id: said, name: said }).catch({ id: null, name: null });

/** The outcome for each entry, in the order of the request. */
export const ModelImport = z
  .object({
    items: z.array(
      z.object({
        id: z.string().nullable(),
        name: z.string().nullable(),
        outcome: z.enum(['stored', 'refused']),
        /** Why it was refused, with the texts of `create` and `update`. */
        reason: z.string().nullable(),
        /** What was left out of a stored model. Absent when there is nothing. */
        warnings: z.array(z.string()).optional(),
      }),
    ),
  })
  .meta({ id: 'ModelImport' });
export type ModelImport = z.infer<typeof ModelImport>;

/** What another server needs to store the record; the picture is a data URI in `meta`. */
export const ModelExport = z
  .object({
    id: z.string(),
    user_id: z.string(),
    base_model_id: z.string().nullable(),
    name: z.string(),
    params: freeForm,
    meta: freeForm,
    access_grants: z.array(GrantView),
    is_active: z.boolean(),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: 'ModelExport' });
export type ModelExport = z.infer<typeof ModelExport>;
