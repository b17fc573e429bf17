import { z } from 'zod';
import { MessageView } from '../messages/messages.schema.ts';

/** A piece of a message's text, which is plain text: markup in it is what somebody wrote. */
const Segment = z.object({ text: z.string(), is_match: z.boolean() });

/** A message that a search found. */
export const FoundMessage = MessageView.extend({
  channel: z.object({ id: z.string(), name: z.string(), type: z.string().nullable() }),
  /** Where its text matches: each place as segments, those that match and those around them. */
  fragments: z.array(z.array(Segment)),
}).meta({ id: 'FoundMessage' });
export type FoundMessage = z.infer<typeof FoundMessage>;
export type Fragment = FoundMessage['fragments'][number];
