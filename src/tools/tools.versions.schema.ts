import { z } from 'zod';
import { seconds } from '../core/wire.ts';
import { ToolPerson } from './tools.schema.ts';

/** One state of a tool's source. */
export const ToolVersionView = z
  .object({
    version: z.int(),
    user_id: z.string(),
    user: ToolPerson,
    /** The version whose source this one brought back. */
    restored_from: z.int().nullable(),
    created_at: seconds(),
    /** Of the source, in bytes. */
    size: z.int(),
  })
  .meta({ id: 'ToolVersion' });
export type ToolVersionView = z.infer<typeof ToolVersionView>;

export const ToolVersionSource = ToolVersionView.extend({ content: z.string() }).meta({
  id: 'ToolVersionSource',
});
export type ToolVersionSource = z.infer<typeof ToolVersionSource>;
