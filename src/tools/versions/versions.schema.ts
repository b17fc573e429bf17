import { z } from 'zod';
import { seconds } from '../../core/wire.ts';
import { ToolPerson } from '../tools.schema.ts';

/** One state of a tool's source. */
export const ToolVersionView = z
  .object({
    version: z.int(),
    user_id: z.string(),
    user: ToolPerson,
    /** The version whose source this one restored. */
    restored_from: z.int().nullable(),
    created_at: seconds(),
    /** Size of the source in bytes. */
    size: z.int(),
  })
  .meta({ id: 'ToolVersion' });
export type ToolVersionView = z.infer<typeof ToolVersionView>;

export const ToolVersionSource = ToolVersionView.extend({ content: z.string() }).meta({
  id: 'ToolVersionSource',
});
export type ToolVersionSource = z.infer<typeof ToolVersionSource>;

/** A version in the form for clients of Open WebUI. */
export const ToolHistoryEntry = z
  .object({
    id: z.string(),
    tool_id: z.string(),
    /** The previous stored version. */
    parent_id: z.string().nullable(),
    user_id: z.string(),
    user: z.object({ name: z.string() }).nullable(),
    commit_message: z.string().nullable(),
    created_at: seconds(),
  })
  .meta({ id: 'ToolHistoryEntry' });
export type ToolHistoryEntry = z.infer<typeof ToolHistoryEntry>;

/** With the source. Name and `meta` have no versions: they are the current ones, and a restored version keeps them. */
export const ToolHistorySnapshot = ToolHistoryEntry.extend({
  snapshot: z.object({
    name: z.string(),
    content: z.string(),
    meta: z.looseObject({ description: z.string().nullable() }),
  }),
}).meta({ id: 'ToolHistorySnapshot' });
export type ToolHistorySnapshot = z.infer<typeof ToolHistorySnapshot>;

export const ToolHistoryDiff = z
  .object({
    from_id: z.string(),
    to_id: z.string(),
    metadata: z.object({}),
    /** Unified diff; empty when only line ends differ. */
    content_diff: z.string(),
    line_endings_only: z.boolean(),
  })
  .meta({ id: 'ToolHistoryDiff' });
export type ToolHistoryDiff = z.infer<typeof ToolHistoryDiff>;
