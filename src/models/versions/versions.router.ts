import { z } from 'zod';
import { member, router } from '../../core/trpc/trpc.ts';
import { id } from '../../core/wire.ts';
import { ModelView, modelId } from '../models.schema.ts';
import { ModelVersionView } from './versions.schema.ts';
import { deleteVersion, getVersion, listVersions, restoreVersion } from './versions.service.ts';

const MOST_PAGES = 1_000;

export const modelVersionsRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/model/history',
        tags: ['models'],
        summary: 'List the versions of a model in pages of twenty',
        description: 'Newest first. Grants, picture and the switch have no versions.',
        errorResponses: [404],
      },
      access: 'model.write',
    })
    .input(z.object({ id: modelId(), page: z.int().min(1).max(MOST_PAGES).default(1) }))
    .output(z.array(ModelVersionView))
    .query(({ ctx, input }) => listVersions(ctx.scope, input)),

  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/model/history/{history_id}',
        tags: ['models'],
        summary: 'Get a version of a model',
        description: 'A version of a model that the caller may not change answers 404, as an unknown one.',
      },
      access: 'model.write',
    })
    .input(z.object({ history_id: id() }))
    .output(ModelVersionView)
    .query(({ ctx, input }) => getVersion(ctx.scope, input.history_id)),

  delete: member
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/models/model/history/{history_id}',
        tags: ['models'],
        summary: 'Delete a version of a model',
        description: 'Removes an earlier version for good. The version in force answers 400.',
      },
      access: 'model.write',
    })
    .input(z.object({ history_id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteVersion(ctx.scope, input.history_id)),

  restore: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/models/model/update/version',
        tags: ['models'],
        summary: 'Restore a version of a model',
        description:
          'Name, base, parameters and metadata become those of the version, as a new version. The caller ' +
          'must be allowed to use its base.',
        errorResponses: [404],
        query: ['id'],
      },
      access: 'model.write',
    })
    .input(z.object({ id: modelId(), version_id: id() }))
    .output(ModelView)
    .mutation(({ ctx, input }) => restoreVersion(ctx.scope, input)),
});
