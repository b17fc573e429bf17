import { z } from 'zod';
import { GrantView, grantList } from '../access/access.schema.ts';
import { LIMITS, label, name, storableWithin, text } from '../core/wire.ts';

/** The description of one function for models: its parameters as JSON schema. */
const FunctionSpecView = z
  .object({
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    returns: z.string().optional(),
  })
  .meta({ id: 'FunctionSpec' });

/** Name and description in other languages, by locale. */
const translations = () => z.record(z.string(), z.record(z.string(), z.string()));

export const ToolView = z
  .object({
    id: z.string(),
    user_id: z.string(),
    name: z.string(),
    meta: z
      .looseObject({
        description: z.string().nullable(),
        manifest: z.record(z.string(), z.unknown()),
        has_user_valves: z.boolean(),
        i18n: translations().optional(),
      })
      .describe('What the author sent, with the manifest of the source and `has_user_valves`'),
    /** The version of its source. */
    version_id: z.string(),
    specs: z.array(FunctionSpecView),
    access_grants: z.array(GrantView),
    updated_at: z.int(),
    created_at: z.int(),
    /** In answers to a new source: warnings for the author of a stored tool. Absent when there are none. */
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'Tool' });
export type ToolView = z.infer<typeof ToolView>;

/** A tool as one of its users sees it: the source only for callers with the right to change it. */
export const ToolAccessView = ToolView.extend({
  content: z.string().optional(),
  write_access: z.boolean(),
}).meta({ id: 'ToolAccess' });
export type ToolAccessView = z.infer<typeof ToolAccessView>;

/**
 * What the author says of a tool. Members that are not listed are stored unchanged. `manifest` and
 * `has_user_valves` are made from the source; those of a request are ignored.
 */
export const toolMeta = () =>
  z
    .looseObject({
      description: label(4096).nullish(),
      i18n: translations()
        .nullish()
        .describe('Texts in other languages, such as `{"de": {"name": "Würfel"}}`'),
      manifest: z.record(z.string(), z.unknown()).nullish(),
      has_user_valves: z.boolean().nullish(),
    })
    .check(storableWithin(LIMITS.freeFormBytes));
export type ToolMetaInput = z.output<ReturnType<typeof toolMeta>>;

/** The members that define a tool. */
export const toolForm = {
  name: name(),
  content: text(LIMITS.toolContentBytes),
  meta: toolMeta(),
  access_grants: grantList().nullish(),
  commit_message: label(1024)
    .nullish()
    .describe('What the author says of this version of the source; shown in its history'),
};

/** The person that did something with a tool; null when the account is deleted. */
export const ToolPerson = z.object({ id: z.string(), name: z.string(), role: z.string() }).nullable();

/** A tool in a list, with its owner. */
export const ToolListing = ToolAccessView.extend({
  /** The e-mail address is empty except for administrators and the person itself. */
  user: ToolPerson.unwrap().extend({ email: z.string() }).nullable(),
  has_user_valves: z.boolean(),
}).meta({ id: 'ToolListing' });
export type ToolListing = z.infer<typeof ToolListing>;

/**
 * The data that another server needs to store the tool; the source only for callers with the right to change
 * it.
 */
export const ToolExport = ToolView.extend({ content: z.string().optional() }).meta({ id: 'ToolExport' });
export type ToolExport = z.infer<typeof ToolExport>;
