import { defineEntity, p } from '@mikro-orm/core';
import { Tool } from '../tools.entity.ts';

/** One call of a tool's function: caller and usage, without arguments and result. */
export const ToolRun = defineEntity({
  name: 'ToolRun',
  tableName: 'tool_run',
  properties: {
    /** A UUID of version 7, which holds the time. */
    id: p.uuid().primary(),
    tool: () => p.manyToOne(Tool).deleteRule('cascade'),
    version: p.integer(),
    /** The account may be deleted. */
    user_id: p.uuid(),
    function: p.text(),
    /** `ok`, `cancelled`, or the code of the error. */
    outcome: p.text(),
    /** Unix seconds. */
    started_at: p.integer(),
    duration_ms: p.double(),
    /** Null when the process could not report it. */
    cpu_ms: p.double().nullable(),
    peak_memory_bytes: p.bigint('number').nullable(),
  },
  // The newest runs of one tool, and whether there are more than a thousand.
  indexes: [{ name: 'tool_run_tool', properties: ['tool', 'id'] }],
});
