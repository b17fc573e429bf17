import { z } from 'zod';
import { grantList } from '../access/access.schema.ts';
import { jsonText, uncheckedList } from '../core/json.ts';
import { trackItems } from '../core/subscription.ts';
import { member, router } from '../core/trpc.ts';
import { describeUnstorable, freeForm, id, LIMITS, name, page, toolId } from '../core/wire.ts';
import { invokeTool } from './tools.call.service.ts';
import { answerRun, openRun } from './tools.live.service.ts';
import { ToolRunView } from './tools.runs.schema.ts';
import { listRuns } from './tools.runs.service.ts';
import { ToolAccessView, ToolExport, ToolListing, ToolView, toolForm } from './tools.schema.ts';
import {
  createTool,
  deleteTool,
  exportTools,
  getTool,
  listTools,
  listToolsWithSources,
  updateTool,
  updateToolAccess,
} from './tools.service.ts';

const call = { id: toolId(), function: name(), arguments: freeForm(LIMITS.bodyBytes).default({}) };

const answer = () =>
  z.unknown().superRefine((value, context) => {
    const message = describeUnstorable({ value }, LIMITS.freeFormBytes);
    if (message) context.addIssue({ code: 'custom', message });
  });

export const toolsRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools',
        tags: ['tools'],
        summary: 'The tools that the caller may use',
      },
      access: 'member',
    })
    .output(uncheckedList(ToolListing))
    .query(({ ctx }) => listTools(ctx.scope)),

  listWithSources: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/list',
        tags: ['tools'],
        summary: 'The same, with the source of those that the caller may change',
      },
      access: 'member',
    })
    .output(uncheckedList(ToolListing))
    .query(({ ctx }) => listToolsWithSources(ctx.scope)),

  export: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/export',
        tags: ['tools'],
        summary: 'The tools that the caller may use, to be stored elsewhere',
      },
      access: 'permission:workspace.tools_export',
    })
    .output(uncheckedList(ToolExport))
    .query(({ ctx }) => exportTools(ctx.scope)),

  create: member
    .meta({
      openapi: { method: 'POST', path: '/tools/create', tags: ['tools'], summary: 'Store a tool' },
      access: 'permission:workspace.tools',
    })
    .input(z.object({ id: z.string().max(256), ...toolForm }))
    .output(ToolView)
    .mutation(({ ctx, input }) => createTool(ctx.scope, input)),

  get: member
    .meta({
      openapi: { method: 'GET', path: '/tools/id/{id}', tags: ['tools'], summary: 'Get a tool' },
      access: 'tool.read',
    })
    .input(z.object({ id: toolId() }))
    .output(ToolAccessView)
    .query(({ ctx, input }) => getTool(ctx.scope, input.id)),

  update: member
    .meta({
      openapi: { method: 'POST', path: '/tools/id/{id}/update', tags: ['tools'], summary: 'Change a tool' },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), ...toolForm }))
    .output(ToolAccessView)
    .mutation(({ ctx, input: { id, ...changes } }) => updateTool(ctx.scope, id, changes)),

  updateAccess: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/access/update',
        tags: ['tools'],
        summary: 'Replace all grants of a tool',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), access_grants: grantList() }))
    .output(ToolAccessView)
    .mutation(({ ctx, input }) => updateToolAccess(ctx.scope, input.id, input.access_grants)),

  delete: member
    .meta({
      openapi: { method: 'DELETE', path: '/tools/id/{id}/delete', tags: ['tools'], summary: 'Delete a tool' },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId() }))
    .output(z.object({ result: z.boolean() }))
    .mutation(({ ctx, input }) => deleteTool(ctx.scope, input.id)),

  invoke: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/call',
        tags: ['tools'],
        summary: 'Run one function of a tool as the caller',
      },
      access: 'tool.read',
    })
    .input(z.object(call))
    .output(
      jsonText(z.object({ result: z.unknown(), events: z.array(z.unknown()), duration_ms: z.number() })),
    )
    .mutation(({ ctx, input }) => invokeTool(ctx.scope, input)),

  run: member
    .meta({ access: 'tool.read', reaches: ['/api/tools/id/{id}/call'] })
    .input(z.object({ ...call, lastEventId: z.string().nullish() }))
    .subscription(async ({ ctx, input }) => trackItems(await openRun(ctx.scope, input))),

  answer: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/runs/{run_id}/answer',
        tags: ['tools'],
        summary: 'Answer what a run of the caller has asked',
      },
      access: 'member',
    })
    .input(z.object({ run_id: id(), ask: z.int().min(1), answer: answer() }))
    .output(z.object({ result: z.boolean() }))
    .mutation(({ ctx, input }) => answerRun(ctx.scope, input)),

  runs: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/runs',
        tags: ['tools'],
        summary: 'The latest runs of a tool: who, when, how long, with what outcome',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), ...page }))
    .output(uncheckedList(ToolRunView))
    .query(({ ctx, input: { id: ofTool, ...paging } }) => listRuns(ctx.scope, ofTool, paging)),
});
