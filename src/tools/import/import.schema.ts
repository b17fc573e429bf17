import { z } from 'zod';
import { LIMITS, label, name, text } from '../../core/wire.ts';

/** What is read of one tool of an export; the other members of other servers are left alone. */
const Exported = z.object(
  {
    id: z.string().max(256),
    name: name(),
    content: text(LIMITS.toolContentBytes),
    meta: z.object({ description: label(4096).nullish() }).nullish(),
  },
  'must be a tool: an object with id, name and content',
);

/** An export is a list of tools; what the community site of Open WebUI hands out wraps each once more. */
const unwrap = (item: unknown) =>
  item !== null && typeof item === 'object' && 'tool' in item ? item.tool : item;
export const ExportedTool = z.preprocess(unwrap, Exported);

const said = label().nullable().catch(null);
/** What something that is no tool says of itself. */
export const Unusable = z.preprocess(
  unwrap,
  z.object({ id: said, name: said }).catch({ id: null, name: null }),
);

const MOST = 500;

/** An import: an export as it is, or as it would be. */
export const toolImportForm = <Tool extends z.ZodType>(tool: Tool) =>
  z.object({ tools: z.array(tool).min(1).max(MOST), dry_run: z.boolean().default(false) });

/** What is around the tools, where the number of each stands for it. */
export const ToolImportForm = z.object({
  ...toolImportForm(z.int()).shape,
  dry_run: z
    .boolean()
    .nullish()
    .transform((asked) => asked ?? false),
});

/** What became of each, in the order in which they were sent. */
export const ToolImport = z
  .object({
    items: z.array(
      z.object({
        /** As it is stored; as it was sent, when it was refused. */
        id: z.string().nullable(),
        name: z.string().nullable(),
        outcome: z.enum(['stored', 'storable', 'refused']),
        /** Why it was refused, in the words of `create`. */
        reason: z.string().nullable(),
        /** What its author should know, though it could be stored. Absent when there is nothing. */
        warnings: z.array(z.string()).optional(),
      }),
    ),
  })
  .meta({ id: 'ToolImport' });
export type ToolImport = z.infer<typeof ToolImport>;
