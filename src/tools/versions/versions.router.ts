import { z } from 'zod';
import { uncheckedList } from '../../core/json/json.ts';
import { member, router } from '../../core/trpc/trpc.ts';
import { page, toolId } from '../../core/wire.ts';
import { ToolAccessView } from '../tools.schema.ts';
import { ToolVersionSource, ToolVersionView } from './versions.schema.ts';
import { getVersion, listVersions, restoreVersion } from './versions.service.ts';

/** Bounded by the type of the column: larger numbers match no version. */
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
        summary: "List the versions of a tool's source",
        description:
          'Newest first, without sources. Each names its number, the account that saved it, its size in ' +
          'bytes, and the version that it restored, if any. Only the newest 1000, of at most 64 MiB ' +
          'together, are kept.',
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
        summary: "Get one version of a tool's source",
        description:
          'The same members as in the list, with the source as `content`. A version that is no longer kept ' +
          'answers 404.',
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
        summary: "Restore a version of a tool's source",
        description:
          'Makes the source of that version current again, as a new version; name, description and grants ' +
          'stay. Nothing is stored if the current source is the same. The caller also needs the permission ' +
          '`workspace.tools`. The source is loaded first: 400 `tool_invalid` gives the reason if it no ' +
          'longer loads.',
        errorResponses: [429, 507],
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), version: version() }))
    .output(ToolAccessView)
    .mutation(({ ctx, input }) => restoreVersion(ctx.scope, input.id, input.version)),
});
