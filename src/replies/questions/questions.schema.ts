import { z } from 'zod';
import { LIMITS, seconds, text } from '../../core/wire.ts';

export const QuestionView = z
  .object({
    id: z.string(),
    channel_id: z.string(),
    /** The reply whose model called the tool. */
    message_id: z.string(),
    /** The call in `data.tool_calls` of the reply. */
    call_id: z.string(),
    tool_id: z.string(),
    /** The name under which the model called the function. */
    function: z.string(),
    model_name: z.string(),
    /** A confirmation takes true or false, an input a text, or false from a person who declines. */
    kind: z.enum(['confirmation', 'input']),
    title: z.string(),
    message: z.string(),
    placeholder: z.string(),
    /** The text that the field of an input holds at first. */
    value: z.string(),
    /** Whether the input is a password, which must not be shown. */
    is_secret: z.boolean(),
    /** The tool waits until then. */
    ends_at: seconds(),
  })
  .meta({ id: 'ReplyQuestion' });
export type QuestionView = z.infer<typeof QuestionView>;

export const Answer = z.union([z.boolean(), text(LIMITS.contentBytes)]);
export type Answer = z.infer<typeof Answer>;
