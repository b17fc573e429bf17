import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/users.entity.ts';
import { Tool } from '../tools.entity.ts';

/**
 * The values of a tool's `UserValves` that one person has set. Separate from the person's settings, which
 * more code than the tools may read.
 */
export const ToolUserValves = defineEntity({
  name: 'ToolUserValves',
  tableName: 'tool_user_valves',
  properties: {
    tool: () => p.manyToOne(Tool).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    /** The set values, as sealed JSON. */
    valves: p.text(),
    updated_at: p.integer(),
  },
});
