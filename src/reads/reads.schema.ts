import { z } from 'zod';

/** What the caller wants to be told of a channel; counts say what there is, whatever the level. */
export const NotifyLevel = z.enum(['all', 'mentions', 'none']);
export type NotifyLevel = z.infer<typeof NotifyLevel>;

/** How far what is new is counted in each channel: clients show `99+` for it. */
export const COUNT_LIMIT = 100;
/** A count of what is new. @param what as a sentence without its end */
export const unreadCount = (what: string) =>
  z.int().meta({ description: `${what}. Counting ends at ${COUNT_LIMIT}, which stands for \`99+\`` });
