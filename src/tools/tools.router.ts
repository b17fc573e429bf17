import { z } from 'zod';
import { grantList } from '../access/access.schema.ts';
import { jsonList } from '../core/json.ts';
import { member, router } from '../core/trpc.ts';
import { toolId } from '../core/wire.ts';
import { runsRouter } from './tools.runs.router.ts';
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
import { valvesRouter } from './tools.valves.router.ts';
import { versionsRouter } from './tools.versions.router.ts';

export const toolsRouter = router({
  ...runsRouter,
  valves: valvesRouter,
  versions: versionsRouter,

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
    .output(jsonList(ToolListing))
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
    .output(jsonList(ToolListing))
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
    .output(jsonList(ToolExport))
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
});
