import { z } from 'zod';
import { uncheckedList } from '../../core/json/json.ts';
import { member, router } from '../../core/trpc/trpc.ts';
import { toolId } from '../../core/wire.ts';
import { ToolAccessView } from '../tools.schema.ts';
import { getTool } from '../tools.service.ts';
import {
  compareHistory,
  deleteHistoryEntry,
  getHistory,
  getHistoryEntry,
  versionOf,
} from './history.service.ts';
import { ToolHistoryDiff, ToolHistoryEntry, ToolHistorySnapshot } from './versions.schema.ts';
import { restoreVersion } from './versions.service.ts';

const entryId = () => z.string().max(64);
const MOST_PAGES = 1_000;

export const toolHistoryRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/history',
        tags: ['tools'],
        summary: "List the versions of a tool's source in pages of twenty",
        description:
          'The form that clients of Open WebUI ask for; `GET /tools/id/{id}/versions` has more. Newest ' +
          'first, without sources. `id` is the number of the version as a text, `parent_id` the kept ' +
          'version before it. `commit_message` is null where none was sent.',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), page: z.int().min(1).max(MOST_PAGES).default(1) }))
    .output(uncheckedList(ToolHistoryEntry))
    .query(({ ctx, input }) => getHistory(ctx.scope, input.id, input.page)),

  diff: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/history/diff',
        tags: ['tools'],
        summary: "Compare two versions of a tool's source",
        description:
          'Returns a unified diff from `from_id` to `to_id`. It is empty if nothing or only line endings ' +
          'differ; `line_endings_only` tells these apart. Sources that differ in more than 2000 lines are ' +
          'shown as replaced.',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), from_id: entryId(), to_id: entryId() }))
    .output(ToolHistoryDiff)
    .query(({ ctx, input: { id, ...ids } }) => compareHistory(ctx.scope, id, ids)),

  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/history/{history_id}',
        tags: ['tools'],
        summary: "Get one version of a tool's source",
        description:
          'The snapshot has the source of that version with the current name and description of the tool, ' +
          'which have no versions. A `history_id` that is not the number of a kept version answers 404.',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), history_id: entryId() }))
    .output(ToolHistorySnapshot)
    .query(({ ctx, input }) => getHistoryEntry(ctx.scope, input.id, input.history_id)),

  delete: member
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/tools/id/{id}/history/{history_id}',
        tags: ['tools'],
        summary: "Delete a version of a tool's source",
        description:
          'Removes an earlier version for good and returns true. The current version answers 400, a ' +
          'version that is already deleted 404.',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), history_id: entryId() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteHistoryEntry(ctx.scope, input.id, input.history_id)),

  restore: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/update/version',
        tags: ['tools'],
        summary: "Restore a version of a tool's source, named by its id",
        description:
          'The same as `POST /tools/id/{id}/versions/{version}/restore`, with the number of the version as ' +
          'the text `version_id`.',
        errorResponses: [429, 507],
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), version_id: entryId().describe('The number of the version, as a text') }))
    .output(ToolAccessView)
    .mutation(({ ctx, input }) => restoreVersion(ctx.scope, input.id, versionOf(input.version_id))),

  specs: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/specs',
        tags: ['tools'],
        summary: 'List the functions of a tool, by name and description',
        description:
          'In the order of the source, without parameters: `GET /tools/id/{id}` has the complete ' +
          'specifications. Empty while packages that the source needs are not installed.',
      },
      access: 'tool.read',
    })
    .input(z.object({ id: toolId() }))
    .output(z.object({ specs: z.array(z.object({ name: z.string(), description: z.string() })) }))
    .query(async ({ ctx, input }) => ({ specs: (await getTool(ctx.scope, input.id)).specs })),
});
