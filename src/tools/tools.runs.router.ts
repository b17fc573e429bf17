import { z } from 'zod';
import { jsonList } from '../core/json.ts';
import { trackItems } from '../core/subscription.ts';
import { member } from '../core/trpc.ts';
import { describeUnstorable, freeForm, id, LIMITS, name, page, toolId } from '../core/wire.ts';
import { callTool } from './tools.call.service.ts';
import { answerRun, openRun } from './tools.live.service.ts';
import { ToolRunView } from './tools.runs.schema.ts';
import { listRuns } from './tools.runs.service.ts';

const call = { id: toolId(), function: name(), arguments: freeForm(LIMITS.bodyBytes).default({}) };

const answer = () =>
  z.unknown().superRefine((value, context) => {
    const message = describeUnstorable({ value }, LIMITS.freeFormBytes);
    if (message) context.addIssue({ code: 'custom', message });
  });

/** Calls of functions, in the names of `tools` itself. */
export const runsRouter = {
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
    .output(z.object({ result: z.unknown(), events: z.array(z.unknown()), duration_ms: z.number() }))
    .mutation(({ ctx, input }) => callTool(ctx.scope, input)),

  run: member
    .meta({ access: 'tool.read' })
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
    .output(jsonList(ToolRunView))
    .query(({ ctx, input: { id: ofTool, ...paging } }) => listRuns(ctx.scope, ofTool, paging)),
};
