import { z } from 'zod';

/** The state of the packages that a tool requires in its frontmatter. */
export const ToolInstall = z
  .object({
    /** `none`: the tool requires no packages. `absent`: no installation has begun on this machine. */
    state: z.enum(['none', 'absent', 'installing', 'ready', 'failed']),
    /** Details in words, for example the reason of a failure. */
    detail: z.string(),
    /** The packages to install, as PEP 508. */
    requirements: z.array(z.string()),
    /** The end of the installer's output. */
    log: z.string(),
  })
  .meta({ id: 'ToolInstall' });
export type ToolInstall = z.infer<typeof ToolInstall>;
