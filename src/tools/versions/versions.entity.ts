import { defineEntity, p } from '@mikro-orm/core';
import { Tool } from '../tools.entity.ts';

/** One state of a tool's source, with the person that saved it. */
export const ToolVersion = defineEntity({
  name: 'ToolVersion',
  tableName: 'tool_version',
  properties: {
    tool: () => p.manyToOne(Tool).primary().deleteRule('cascade'),
    version: p.integer().primary(),
    /** The account may be deleted. */
    user_id: p.uuid(),
    content: p.text(),
    /** The version that it was restored from. */
    restored_from: p.integer().nullable(),
    /** The author's description of the change. */
    commit_message: p.text().nullable(),
    created_at: p.integer(),
  },
});
