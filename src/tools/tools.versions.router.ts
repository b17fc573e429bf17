import { z } from 'zod';
import { uncheckedList } from '../core/json.ts';
import { member, router } from '../core/trpc.ts';
import { page, toolId } from '../core/wire.ts';
import { ToolAccessView } from './tools.schema.ts';
import { ToolVersionSource, ToolVersionView } from './tools.versions.schema.ts';
import { getVersion, listVersions, restoreVersion } from './tools.versions.service.ts';

/** Beyond what a column of the database holds there is none. */
const version = () =>
  z
    .int()
    .min(1)
    .max(2 ** 31 - 1);

export const toolVersionsRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/versions',
        tags: ['tools'],
        summary: "The states of a tool's source, with who saved them",
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), ...page }))
    .output(uncheckedList(ToolVersionView))
    .query(({ ctx, input: { id, ...paging } }) => listVersions(ctx.scope, id, paging)),

  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/versions/{version}',
        tags: ['tools'],
        summary: "One state of a tool's source",
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), version: version() }))
    .output(ToolVersionSource)
    .query(({ ctx, input }) => getVersion(ctx.scope, input.id, input.version)),

  restore: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/versions/{version}/restore',
        tags: ['tools'],
        summary: "Bring a state of a tool's source back, as a new one",
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), version: version() }))
    .output(ToolAccessView)
    .mutation(({ ctx, input }) => restoreVersion(ctx.scope, input.id, input.version)),
});
