import { z } from 'zod';
import { administrator, member, router } from '../../core/trpc/trpc.ts';
import { ModelView } from '../models.schema.ts';
import { modelSearch } from './workspace.schema.ts';
import { listAll, listTags, pageModels } from './workspace.service.ts';

const MOST_PAGES = 10_000;

export const modelWorkspaceRouter = router({
  page: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/list',
        tags: ['models'],
        summary: 'Search the records of models in pages of thirty',
        description:
          'Records with a base that the caller may read, also those that are switched off. `params` and ' +
          '`access_grants` are empty unless the caller may change the record. `total` counts all that match.',
      },
      access: 'member',
    })
    .input(z.object({ ...modelSearch, page: z.int().min(1).max(MOST_PAGES).default(1) }))
    .output(z.object({ items: z.array(ModelView), total: z.int() }))
    .query(({ ctx, input }) => pageModels(ctx.scope, input)),

  tags: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/tags',
        tags: ['models'],
        summary: 'List the tags of models',
        description: 'Tags of the records with a base that the caller may read, in alphabetical order.',
      },
      access: 'member',
    })
    .output(z.array(z.string()))
    .query(({ ctx }) => listTags(ctx.scope, { isBase: false })),

  baseTags: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/base/tags',
        tags: ['models'],
        summary: 'List the tags of records without a base',
        description: 'Tags that administrators gave to provider models, in alphabetical order.',
      },
      access: 'administrator',
    })
    .output(z.array(z.string()))
    .query(({ ctx }) => listTags(ctx.scope, { isBase: true })),

  all: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/all',
        tags: ['models'],
        summary: 'List all records of models',
        description: 'Records with and without a base, with parameters and grants, ordered by id.',
      },
      access: 'administrator',
    })
    .output(z.array(ModelView))
    .query(({ ctx }) => listAll(ctx.scope)),
});
