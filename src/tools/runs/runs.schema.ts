import { z } from 'zod';
import { seconds } from '../../core/wire.ts';
import { ToolPerson } from '../tools.schema.ts';

/** One call of a function; neither its arguments nor its result. */
export const ToolRunView = z
  .object({
    id: z.string(),
    version: z.int(),
    function: z.string(),
    /** `ok`, `cancelled`, or the code of the error. */
    outcome: z.string(),
    started_at: seconds(),
    duration_ms: z.number(),
    /**
     * Of the tool's process while the function ran, calls at the same time included. Null when no process was asked, and
     * of one that gave no answer until it has ended.
     */
    cpu_ms: z.number().nullable(),
    /** The most that the tool's process had held by then, in this call or before it. */
    peak_memory_bytes: z.int().nullable(),
    user_id: z.string(),
    user: ToolPerson,
  })
  .meta({ id: 'ToolRun' });
export type ToolRunView = z.infer<typeof ToolRunView>;
