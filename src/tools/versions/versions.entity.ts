import { defineEntity, p } from '@mikro-orm/core';
import { Tool } from '../tools.entity.ts';

/** One state of a tool's source, kept with who saved it. */
export const ToolVersion = defineEntity({
  name: 'ToolVersion',
  tableName: 'tool_version',
  properties: {
    tool: () => p.manyToOne(Tool).primary().deleteRule('cascade'),
    version: p.integer().primary(),
    /** May be an account that is gone. */
    user_id: p.uuid(),
    content: p.text(),
    /** The version that it was restored from. */
    restored_from: p.integer().nullable(),
    /** What the author says of the change. */
    commit_message: p.text().nullable(),
    created_at: p.integer(),
  },
});
