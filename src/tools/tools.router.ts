import { z } from 'zod';
import { grantList } from '../access/access.schema.ts';
import { jsonText, uncheckedList } from '../core/json/json.ts';
import { trackItems } from '../core/trpc/trpc.items.ts';
import { member, router } from '../core/trpc/trpc.ts';
import { describeUnstorable, freeForm, id, LIMITS, label, name, page, toolId } from '../core/wire.ts';
import { invokeTool } from './calls/call.service.ts';
import { answerRun, openRun } from './calls/live.service.ts';
import { ToolRunView } from './runs/runs.schema.ts';
import { listRuns } from './runs/runs.service.ts';
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

const call = {
  id: toolId(),
  function: name().describe('The name of a function, as in `specs` of the tool'),
  arguments: freeForm(LIMITS.bodyBytes).default({}).describe('Values by the names of the parameters'),
};

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
        summary: 'List the tools that the caller may use',
        description:
          'A tool is listed for its owner, for accounts that a grant to them, to one of their groups or to ' +
          '`*` names, and for administrators. The last changed comes first. The list has no pages and no ' +
          'sources.',
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
        summary: 'List the tools that the caller may use, with sources',
        description:
          'The same list as `GET /tools`, with the member `content` in each tool that the caller may ' +
          'change.',
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
        summary: 'Export the tools that the caller may use',
        description:
          'Returns each readable tool with what another server needs to store it, ordered by id; `POST ' +
          '/tools/import` takes the answer. The member `content` is there only in tools that the caller ' +
          'may change. Values of valves are not exported. Without the permission the answer is 401 ' +
          '`tool_forbidden`.',
      },
      access: 'permission:workspace.tools_export',
    })
    .output(uncheckedList(ToolExport))
    .query(({ ctx }) => exportTools(ctx.scope)),

  create: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/create',
        tags: ['tools'],
        summary: 'Store a tool',
        description:
          'Also open to callers with the permission `workspace.tools_import`. The id holds ASCII letters, ' +
          'digits and underscores and is stored in lower case; a taken id answers 400 `id_taken`. The ' +
          'source is loaded in a process of its own before it is stored, and 400 `tool_invalid` gives the ' +
          'reason when that fails. Packages that it asks for are installed in the background where the ' +
          'configuration allows it. The manifest comes from the frontmatter of the source; a sent one is ' +
          'ignored. Grants follow the rules of `POST /tools/id/{id}/access/update`.',
        errorResponses: [429, 507],
      },
      access: 'permission:workspace.tools',
    })
    .input(
      z.object({ id: z.string().max(256).meta({ minLength: 1, pattern: '^[A-Za-z0-9_]+$' }), ...toolForm }),
    )
    .output(ToolView)
    .mutation(({ ctx, input }) => createTool(ctx.scope, input)),

  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}',
        tags: ['tools'],
        summary: 'Get a tool',
        description:
          'The member `content` is there only if the caller may change the tool. A tool that exists but is ' +
          'not shared with the caller answers 401 `tool_forbidden`.',
      },
      access: 'tool.read',
    })
    .input(z.object({ id: toolId() }))
    .output(ToolAccessView)
    .query(({ ctx, input }) => getTool(ctx.scope, input.id)),

  update: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/update',
        tags: ['tools'],
        summary: 'Change a tool',
        description:
          'Replaces name, source and description; a missing description becomes null. Another source also ' +
          'needs the permission `workspace.tools`, is loaded before it is stored, and becomes a new ' +
          'version. Of each tool the newest 1000 versions, of at most 64 MiB together, are kept. Grants ' +
          'stay if `access_grants` is missing or null. The id, the manifest and the owner cannot be ' +
          'changed. With the `version_id` that the change began from, the answer is 409 ' +
          '`version_conflict` if the source has changed since.',
        errorResponses: [409, 429, 507],
      },
      access: 'tool.write',
    })
    .input(
      z.object({
        id: toolId(),
        ...toolForm,
        version_id: label(64).nullish().describe('The version that the change began from'),
      }),
    )
    .output(ToolAccessView)
    .mutation(({ ctx, input: { id, ...changes } }) => updateTool(ctx.scope, id, changes)),

  updateAccess: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/access/update',
        tags: ['tools'],
        summary: 'Replace all grants of a tool',
        description:
          'Grants that are not in the list end. A grant to `*` is left out without an error unless the ' +
          'caller has the permission `sharing.public_tools`. Any other new grant that the caller may not ' +
          'give answers 403: to a user without the permission `access_grants.allow_users`, or to a group ' +
          'that the caller may not share with. Grants that exist already may be sent again. Running calls ' +
          'of callers who lose the right end if they are watched by a subscription.',
        errorResponses: [507],
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), access_grants: grantList() }))
    .output(ToolAccessView)
    .mutation(({ ctx, input }) => updateToolAccess(ctx.scope, input.id, input.access_grants)),

  delete: member
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/tools/id/{id}/delete',
        tags: ['tools'],
        summary: 'Delete a tool',
        description:
          'Removes the tool with its versions, runs, grants and values of valves. A second call answers ' +
          '404.',
      },
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
        description:
          'Answers when the function has ended, with its result, the events that it emitted in order, and ' +
          'the duration. The function runs with the rights of the caller, and is stopped after 30 s or ' +
          'when the client closes the connection. A function that asks a question fails here: use the ' +
          'subscription `tools.run`. 422 means that the function raised an error, 409 that packages of the ' +
          'tool are missing, 429 that too many calls of the caller are under way (16 run at a time). Each ' +
          'call is recorded as a run.',
        errorResponses: [409, 422, 429, 504, 507],
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
        summary: 'Answer a question of a running function',
        description:
          'A function asks through the subscription `tools.run`, which names the run and numbers the ' +
          'question. Only the account that started the run may answer, and only the first answer counts: a ' +
          'later one, and one to a question that waits no longer (5 minutes), answer 404.',
        errorResponses: [507],
      },
      access: 'member',
    })
    .input(
      z.object({
        run_id: id(),
        ask: z.int().min(1).describe('The number of the question'),
        answer: answer().describe('Any JSON value'),
      }),
    )
    .output(z.object({ result: z.boolean() }))
    .mutation(({ ctx, input }) => answerRun(ctx.scope, input)),

  runs: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/runs',
        tags: ['tools'],
        summary: 'List the latest runs of a tool',
        description:
          'Newest first. A run names the version, the function, the caller, the start, the duration, and ' +
          'the outcome: `ok`, `cancelled`, or an error code. It never holds arguments or results. About ' +
          '1000 runs of a tool are kept, for 30 days.',
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId(), ...page }))
    .output(uncheckedList(ToolRunView))
    .query(({ ctx, input: { id: ofTool, ...paging } }) => listRuns(ctx.scope, ofTool, paging)),
});
