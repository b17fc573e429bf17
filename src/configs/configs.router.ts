import { z } from 'zod';
import { administrator, router } from '../core/trpc.ts';
import { Configuration } from './configs.schema.ts';
import { exportConfiguration, importConfiguration } from './configs.service.ts';

export const configsRouter = router({
  export: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/export',
        tags: ['configs'],
        summary: 'The complete configuration',
      },
      access: 'administrator',
    })
    .output(Configuration)
    .query(({ ctx }) => exportConfiguration(ctx.scope)),

  import: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/configs/import',
        tags: ['configs'],
        summary: 'Replace the complete configuration',
        bodyMember: 'config',
        acceptWrapped: true,
      },
      access: 'administrator',
    })
    .input(z.object({ config: Configuration }))
    .output(Configuration)
    .mutation(({ ctx, input }) => importConfiguration(ctx.scope, input.config)),
});
