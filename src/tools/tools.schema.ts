import { z } from 'zod';
import { GrantView, grantList } from '../access/access.schema.ts';
import { LIMITS, label, name, text } from '../core/wire.ts';

/** What a model is told of one function: its parameters as JSON schema. */
const FunctionSpecView = z
  .object({
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    returns: z.string().optional(),
  })
  .meta({ id: 'FunctionSpec' });

export const ToolView = z
  .object({
    id: z.string(),
    user_id: z.string(),
    name: z.string(),
    meta: z.object({
      description: z.string().nullable(),
      manifest: z.record(z.string(), z.unknown()),
      has_user_valves: z.boolean(),
    }),
    /** Of its source. */
    version_id: z.string(),
    specs: z.array(FunctionSpecView),
    access_grants: z.array(GrantView),
    updated_at: z.int(),
    created_at: z.int(),
    /** In answers to a new source: what its author should know, though it was stored. Absent when there is nothing. */
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'Tool' });
export type ToolView = z.infer<typeof ToolView>;

/** A tool as one of its users sees it: the source only for those who may change it. */
export const ToolAccessView = ToolView.extend({
  content: z.string().optional(),
  write_access: z.boolean(),
}).meta({ id: 'ToolAccess' });
export type ToolAccessView = z.infer<typeof ToolAccessView>;

/** What a tool is made of. The manifest comes from the source's frontmatter, whatever is sent. */
export const toolForm = {
  name: name(),
  content: text(LIMITS.toolContentBytes),
  meta: z.object({
    description: label(4096).nullish(),
    manifest: z.record(z.string(), z.unknown()).nullish(),
  }),
  access_grants: grantList().nullish(),
  commit_message: label(1024)
    .nullish()
    .describe('What the author says of this version of the source; shown in its history'),
};

/** Who did something with a tool; null when the account is gone. */
export const ToolPerson = z.object({ id: z.string(), name: z.string(), role: z.string() }).nullable();

/** A tool in a list, with who made it. */
export const ToolListing = ToolAccessView.extend({
  /** The address is empty but for administrators and the person. */
  user: ToolPerson.unwrap().extend({ email: z.string() }).nullable(),
  has_user_valves: z.boolean(),
}).meta({ id: 'ToolListing' });
export type ToolListing = z.infer<typeof ToolListing>;

/** What another server needs to store the tool; the source only for those who may change it. */
export const ToolExport = ToolView.extend({ content: z.string().optional() }).meta({ id: 'ToolExport' });
export type ToolExport = z.infer<typeof ToolExport>;
