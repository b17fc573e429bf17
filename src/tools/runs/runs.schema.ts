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
     * CPU time of the tool's process while the function ran, including concurrent calls. Null when no process
     * was asked, and until the process has ended for a call without an answer.
     */
    cpu_ms: z.number().nullable(),
    /** The peak memory of the tool's process so far, in this call or before it. */
    peak_memory_bytes: z.int().nullable(),
    user_id: z.string(),
    user: ToolPerson,
  })
  .meta({ id: 'ToolRun' });
export type ToolRunView = z.infer<typeof ToolRunView>;
