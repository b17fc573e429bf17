import { defineEntity, p } from '@mikro-orm/core';
import { Tool } from '../tools.entity.ts';

/** That a function of a tool was called, by whom, and what it took; neither its arguments nor its result. */
export const ToolRun = defineEntity({
  name: 'ToolRun',
  tableName: 'tool_run',
  properties: {
    /** A UUID of version 7, so that it also says when. */
    id: p.uuid().primary(),
    tool: () => p.manyToOne(Tool).deleteRule('cascade'),
    version: p.integer(),
    /** May be an account that is gone. */
    user_id: p.uuid(),
    function: p.text(),
    /** `ok`, `cancelled`, or the code of the error. */
    outcome: p.text(),
    /** Unix seconds. */
    started_at: p.integer(),
    duration_ms: p.double(),
    /** Null when the process could not tell any more. */
    cpu_ms: p.double().nullable(),
    peak_memory_bytes: p.bigint('number').nullable(),
  },
  // Newest first, and whether there are more than a thousand, of one tool.
  indexes: [{ name: 'tool_run_tool', properties: ['tool', 'id'] }],
});
