import { z } from 'zod';

/** How it stands with the packages that a tool asks for in its frontmatter. */
export const ToolInstall = z
  .object({
    /** `none`: it needs none. `absent`: nobody has begun on this machine. */
    state: z.enum(['none', 'absent', 'installing', 'ready', 'failed']),
    /** In words: the reason of a failure, for one. */
    detail: z.string(),
    /** What is installed, as PEP 508. */
    requirements: z.array(z.string()),
    /** What the installer printed, the end of it. */
    log: z.string(),
  })
  .meta({ id: 'ToolInstall' });
export type ToolInstall = z.infer<typeof ToolInstall>;
