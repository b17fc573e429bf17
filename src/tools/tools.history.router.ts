import { z } from 'zod';
import { uncheckedList } from '../core/json.ts';
import { member, router } from '../core/trpc.ts';
import { toolId } from '../core/wire.ts';
import {
  compareHistory,
  deleteHistoryEntry,
  getHistory,
  getHistoryEntry,
  versionOf,
} from './tools.history.service.ts';
import { ToolAccessView } from './tools.schema.ts';
import { getTool } from './tools.service.ts';
import { ToolHistoryDiff, ToolHistoryEntry, ToolHistorySnapshot } from './tools.versions.schema.ts';
import { restoreVersion } from './tools.versions.service.ts';

const entryId = () => z.string().max(64);
const MOST_PAGES = 1_000;

export const toolHistoryRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/history',
        tags: ['tools'],
        summary: "The states of a tool's source, twenty a page, as clients of Open WebUI ask for them",
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
        summary: "What changed between two states of a tool's source",
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
        summary: "One state of a tool's source, with the name and description of today",
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
        summary: "Forget a state of a tool's source that is not in force",
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
        summary: "Bring a state of a tool's source back, as a new one",
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), version_id: entryId() }))
    .output(ToolAccessView)
    .mutation(({ ctx, input }) => restoreVersion(ctx.scope, input.id, versionOf(input.version_id))),

  specs: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/specs',
        tags: ['tools'],
        summary: 'The functions of a tool, by name and description',
      },
      access: 'tool.read',
    })
    .input(z.object({ id: toolId() }))
    .output(z.object({ specs: z.array(z.object({ name: z.string(), description: z.string() })) }))
    .query(async ({ ctx, input }) => ({ specs: (await getTool(ctx.scope, input.id)).specs })),
});
