import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { freeForm, toolId } from '../core/wire.ts';
import { getValves, getValvesSpec, updateValves } from './tools.valves.service.ts';

const ofTool = { id: toolId() };
/** What a class of the tool declares; `null` returns a value to its default. */
const values = () => freeForm();
const Values = z.record(z.string(), z.unknown());
/** JSON schema; null when the tool has no such class. */
const Spec = z.record(z.string(), z.unknown()).nullable();

export const valvesRouter = router({
  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/valves',
        tags: ['tools'],
        summary: 'The settings of a tool that were set; texts are masked for those who may only use it',
      },
      access: 'tool.read',
    })
    .input(z.object(ofTool))
    .output(Values)
    .query(({ ctx, input }) => getValves(ctx.scope, input.id, 'valves')),

  spec: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/valves/spec',
        tags: ['tools'],
        summary: 'What can be set of a tool',
      },
      access: 'tool.read',
    })
    .input(z.object(ofTool))
    .output(Spec)
    .query(({ ctx, input }) => getValvesSpec(ctx.scope, input.id, 'valves')),

  update: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/valves/update',
        tags: ['tools'],
        summary: 'Set some settings of a tool and keep the others',
        bodyMember: 'valves',
      },
      access: 'tool.write',
    })
    .input(z.object({ ...ofTool, valves: values() }))
    .output(Values)
    .mutation(({ ctx, input }) => updateValves(ctx.scope, input.id, 'valves', input.valves)),

  userGet: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/valves/user',
        tags: ['tools'],
        summary: "The caller's own settings of a tool",
      },
      access: 'tool.read',
    })
    .input(z.object(ofTool))
    .output(Values)
    .query(({ ctx, input }) => getValves(ctx.scope, input.id, 'user_valves')),

  userSpec: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/valves/user/spec',
        tags: ['tools'],
        summary: 'What every user can set of a tool for themselves',
      },
      access: 'tool.read',
    })
    .input(z.object(ofTool))
    .output(Spec)
    .query(({ ctx, input }) => getValvesSpec(ctx.scope, input.id, 'user_valves')),

  userUpdate: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/valves/user/update',
        tags: ['tools'],
        summary: "Set some of the caller's own settings of a tool and keep the others",
        bodyMember: 'valves',
      },
      access: 'tool.read',
    })
    .input(z.object({ ...ofTool, valves: values() }))
    .output(Values)
    .mutation(({ ctx, input }) => updateValves(ctx.scope, input.id, 'user_valves', input.valves)),
});
