import { z } from 'zod';

/** What happens in a run that its caller watches. The last item is `result`; a failure ends the subscription instead. */
export const ToolRunEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('started'), run_id: z.string() }),
    /** What the function emitted. */
    z.object({ type: z.literal('event'), event: z.unknown() }),
    /** What the function asks; `POST /tools/runs/{run_id}/answer` takes the answer. */
    z.object({ type: z.literal('ask'), ask: z.int(), event: z.unknown() }),
    z.object({ type: z.literal('result'), result: z.unknown(), duration_ms: z.number() }),
  ])
  .meta({ id: 'ToolRunEvent' });
export type ToolRunEvent = z.infer<typeof ToolRunEvent>;
