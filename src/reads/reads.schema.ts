import { z } from 'zod';

/** The messages of a channel that the caller wants notices for. It does not change the counts. */
export const NotifyLevel = z.enum(['all', 'mentions', 'none']);
export type NotifyLevel = z.infer<typeof NotifyLevel>;

/** The counts of a channel end at this number. Clients show it as `99+`. */
export const COUNT_LIMIT = 100;
/** A count of unread messages. @param what a sentence without its full stop */
export const unreadCount = (what: string) =>
  z.int().meta({ description: `${what}. Counting ends at ${COUNT_LIMIT}, which stands for \`99+\`` });
