import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { ToolImport } from './tools.import.schema.ts';
import { importTools } from './tools.import.service.ts';

const MOST = 500;

export const toolImportRouter = router({
  file: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/import',
        tags: ['tools'],
        summary: 'Store the tools of an export, or say of each whether it could be',
      },
      access: 'permission:workspace.tools',
    })
    .input(z.object({ tools: z.array(z.unknown()).min(1).max(MOST), dry_run: z.boolean().default(false) }))
    .output(ToolImport)
    .mutation(({ ctx, input }) => importTools(ctx.scope, input.tools, input.dry_run)),
});
