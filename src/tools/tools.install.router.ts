import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { toolId } from '../core/wire.ts';
import { ToolInstall } from './tools.install.schema.ts';
import { getInstallation, installForTool } from './tools.install.service.ts';

export const toolInstallRouter = router({
  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/install',
        tags: ['tools'],
        summary: 'How it stands with the packages of a tool, with the log',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId() }))
    .output(ToolInstall)
    .query(({ ctx, input }) => getInstallation(ctx.scope, input.id)),

  start: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/install',
        tags: ['tools'],
        summary: 'Install what a tool asks for in its frontmatter, again after a failure',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId() }))
    .output(ToolInstall)
    .mutation(({ ctx, input }) => installForTool(ctx.scope, input.id)),
});
