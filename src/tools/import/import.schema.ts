import { z } from 'zod';
import { LIMITS, label, name, text } from '../../core/wire.ts';
import { toolMeta } from '../tools.schema.ts';

/** The members of an exported tool that are read; other members of other servers are ignored. */
const Exported = z.object(
  {
    id: z.string().max(256),
    name: name(),
    content: text(LIMITS.toolContentBytes),
    meta: toolMeta().nullish(),
  },
  'must be a tool: an object with id, name and content',
);

/** An export is a list of tools; the community site of Open WebUI wraps each tool once more. */
const unwrap = (item: unknown) =>
  item !== null && typeof item === 'object' && 'tool' in item ? item.tool : item;
export const ExportedTool = z.preprocess(unwrap, Exported);

const said = label().nullable().catch(null);
/** The identification of an entry that is not a tool. */
export const Unusable = z.preprocess(
  unwrap,
  z.object({ id: said, name: said }).catch({ id: null, name: null }),
);

const MOST = 500;

/** An import: an export, and whether the import is a dry run. */
export const toolImportForm = <Tool extends z.ZodType>(tool: Tool) =>
  z.object({ tools: z.array(tool).min(1).max(MOST), dry_run: z.boolean().default(false) });

/** The form around the tools; each tool is replaced by its number. */
export const ToolImportForm = z.object({
  ...toolImportForm(z.int()).shape,
  dry_run: z
    .boolean()
    .nullish()
    .transform((asked) => asked ?? false),
});

/** The outcome for each tool, in the order of the request. */
export const ToolImport = z
  .object({
    items: z.array(
      z.object({
        /** The stored id; for a refused tool, the id in the request. */
        id: z.string().nullable(),
        name: z.string().nullable(),
        outcome: z.enum(['stored', 'storable', 'refused']),
        /** Why the tool was refused, with the texts of `create`. */
        reason: z.string().nullable(),
        /** Warnings for the author of a stored tool. Absent when there are none. */
        warnings: z.array(z.string()).optional(),
      }),
    ),
  })
  .meta({ id: 'ToolImport' });
export type ToolImport = z.infer<typeof ToolImport>;
