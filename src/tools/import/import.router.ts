import { z } from 'zod';
import { member, router } from '../../core/trpc/trpc.ts';
import { ToolImport, toolImportForm } from './import.schema.ts';
import { importTools } from './import.service.ts';

export const toolImportRouter = router({
  // REST has a route of its own, which accepts more forms (doors/imports.ts).
  file: member
    .meta({ access: 'permission:workspace.tools', reaches: ['/api/tools/import'] })
    .input(toolImportForm(z.unknown()))
    .output(ToolImport)
    .mutation(({ ctx, input }) => importTools(ctx.scope, input.tools, input.dry_run)),
});
