import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { freeForm, LIMITS, name, toolId } from '../core/wire.ts';
import { ToolAccessView, ToolView, toolForm } from './tools.schema.ts';
import { callTool, createTool, deleteTool, getTool, listTools, updateTool } from './tools.service.ts';

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
    .output(z.array(ToolAccessView))
    .query(({ ctx }) => listTools(ctx.scope)),

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
    .input(z.object({ id: toolId(), function: name(), arguments: freeForm(LIMITS.bodyBytes).default({}) }))
    .output(z.object({ result: z.unknown(), events: z.array(z.unknown()), duration_ms: z.number() }))
    .mutation(({ ctx, input }) => callTool(ctx.scope, input)),
});
