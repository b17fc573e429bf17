import { z } from 'zod';
import { MessageView } from '../messages/messages.schema.ts';

/** A piece of a message's text. It is plain text: clients must escape it. */
const Segment = z.object({ text: z.string(), is_match: z.boolean() });

/** A message in the result of a search. */
export const FoundMessage = MessageView.extend({
  channel: z.object({ id: z.string(), name: z.string(), type: z.string().nullable() }),
  /** The places that match, each as segments. */
  fragments: z.array(z.array(Segment)),
}).meta({ id: 'FoundMessage' });
export type FoundMessage = z.infer<typeof FoundMessage>;
export type Fragment = FoundMessage['fragments'][number];
