import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/users.entity.ts';
import { Tool } from '../tools.entity.ts';

/** What one person has set of a tool's `UserValves`. Apart from their settings, which more than the tools may read. */
export const ToolUserValves = defineEntity({
  name: 'ToolUserValves',
  tableName: 'tool_user_valves',
  properties: {
    tool: () => p.manyToOne(Tool).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    /** The values that were set, as JSON, sealed. */
    valves: p.text(),
    updated_at: p.integer(),
  },
});
