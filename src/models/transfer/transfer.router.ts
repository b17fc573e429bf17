import { z } from 'zod';
import { administrator, member, router } from '../../core/trpc/trpc.ts';
import { ModelView, modelId } from '../models.schema.ts';
import { ModelExport, ModelImport, modelImportForm, modelSyncForm } from './transfer.schema.ts';
import { exportModels, importModels, syncModels } from './transfer.service.ts';

const MOST_IDS = 500;

export const modelTransferRouter = router({
  export: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/export',
        tags: ['models'],
        summary: 'Export records of models',
        description:
          'The records that the caller may change, with prompts, parameters and pictures, ordered by id; ' +
          '`ids` picks some. `POST /models/import` takes the answer as `models`. One of the ids that is ' +
          'not among them answers 404 `model_not_found`.',
        errorResponses: [404],
      },
      access: 'permission:workspace.models_export',
    })
    .input(z.object({ ids: z.array(modelId()).max(MOST_IDS).optional() }))
    .output(z.array(ModelExport))
    .query(({ ctx, input }) => exportModels(ctx.scope, input.ids)),

  import: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/models/import',
        tags: ['models'],
        summary: 'Import records of models',
        description:
          'Each entry follows the rules of a single record: a new one belongs to the caller and is not ' +
          'shared, a stored one is changed only if the caller may change it. Its metadata is merged, its ' +
          'parameters are replaced. The answer has the outcome for each entry; an entry that is refused ' +
          'says why and does not stop the others. Pictures of other servers are left out.',
      },
      access: 'permission:workspace.models_import',
    })
    .input(modelImportForm)
    .output(ModelImport)
    .mutation(({ ctx, input }) => importModels(ctx.scope, input.models)),

  sync: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/models/sync',
        tags: ['models'],
        summary: 'Replace all records of models',
        description:
          'The records become those of the list, with their grants where `access_grants` is sent; records ' +
          'that are not in it are deleted. If one entry is wrong, nothing changes.',
      },
      access: 'administrator',
    })
    .input(modelSyncForm)
    .output(z.array(ModelView))
    .mutation(({ ctx, input }) => syncModels(ctx.scope, input.models)),
});
