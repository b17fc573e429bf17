import { z } from 'zod';
import { member, router } from '../../core/trpc/trpc.ts';
import { freeForm, toolId } from '../../core/wire.ts';
import { getValves, getValvesSpec, updateValves } from './valves.service.ts';

const ofTool = { id: toolId() };
/** Members that a class of the tool declares; `null` resets a value to its default. */
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
        summary: 'Get the valves of a tool',
        description:
          'Returns the values that were set, without defaults; an empty object if there are none. Callers ' +
          'who may only use the tool see a mask in place of every text and object that is not the default. ' +
          '503 means that the values were encrypted with another SECRET_KEY.',
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
        summary: 'Get the JSON schema of the valves of a tool',
        description:
          'Null if the source has no class `Valves`. Choices that the class offers by a method are ' +
          'computed for the caller; if that fails, the name of the method stays in their place. 409 means ' +
          'that packages of the tool are missing.',
        errorResponses: [409],
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
        summary: 'Set valves of a tool',
        description:
          'The body is an object of the values to set; a value of null returns to its default, and members ' +
          'that are not sent stay. The class `Valves` of the tool checks and converts the values: 400 ' +
          '`valves_invalid` gives its reasons. Members that the class does not know are dropped and named ' +
          'in `X-Ignored-Members`. Returns all values that are set now. 404 if the tool has no such class.',
        errorResponses: [409, 429, 504, 507],
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
        summary: "Get the caller's own valves of a tool",
        description:
          'Returns the values that the caller has set, without defaults; an empty object if there are ' +
          'none. No other account can read them, administrators included. 503 means that they were ' +
          'encrypted with another SECRET_KEY.',
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
        summary: "Get the JSON schema of the caller's own valves of a tool",
        description: 'As `GET /tools/id/{id}/valves/spec`, for the class `UserValves`.',
        errorResponses: [409],
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
        summary: "Set the caller's own valves of a tool",
        description:
          'As `POST /tools/id/{id}/valves/update`, for the class `UserValves`. The values hold for calls ' +
          'of this caller only, so the right to use the tool is enough.',
        errorResponses: [409, 429, 504, 507],
        bodyMember: 'valves',
      },
      access: 'tool.read',
    })
    .input(z.object({ ...ofTool, valves: values() }))
    .output(Values)
    .mutation(({ ctx, input }) => updateValves(ctx.scope, input.id, 'user_valves', input.valves)),
});
