import { z } from 'zod';
import { Author } from '../channelbase/channels.brief.schema.ts';
import { freeFormWithout, nanoseconds } from '../core/wire.ts';

/** What hangs on a message for programs: files, and whatever else. */
// A record, as an object with members of people's own would not keep their order.
export const MessageData = z.record(z.string(), z.unknown()).meta({
  id: 'MessageData',
  override: ({ jsonSchema }) => {
    jsonSchema.properties = { files: { type: 'array', items: {}, description: 'Empty without files' } };
    jsonSchema.required = ['files'];
  },
}) as z.ZodType as z.ZodType<{ files: unknown[]; [member: string]: unknown }>;

/**
 * What people may put into `data` and `meta`. The other members say what the service did: clients take a message for a model's
 * or a program's, for unfinished, failed, cut or deleted, by what stands there. Dropped rather than refused, so that whoever
 * sends back what they read can do so; an edit then leaves those members as they are.
 */
export const SentForms = {
  data: freeFormWithout(['tool_calls'])
    .nullish()
    .describe('`files`, and members of the client; `tool_calls` is dropped'),
  meta: freeFormWithout([
    'model_id',
    'model_name',
    'done',
    'usage',
    'error',
    'webhook',
    'abridged',
    'deleted',
  ])
    .nullish()
    .describe('Members of the client; those that the server writes itself, such as `done`, are dropped'),
};

const MESSAGE_FIELDS = {
  id: z.string(),
  user_id: z.string(),
  channel_id: z.string(),
  content: z.string(),
  reply_to_id: z.string().nullable(),
  parent_id: z.string().nullable(),
  is_pinned: z.boolean(),
  pinned_by: z.string().nullable(),
  pinned_at: nanoseconds().nullable(),
  data: MessageData,
  meta: z.record(z.string(), z.unknown()),
  /** Null when the account is gone. */
  user: Author.nullable(),
  created_at: nanoseconds(),
  updated_at: nanoseconds(),
};

const QuotedMessage = z.object(MESSAGE_FIELDS).meta({ id: 'QuotedMessage' });

const Reaction = z
  .object({
    name: z.string(),
    count: z.int().meta({ description: 'How many people, however many of them are named' }),
    users: z.array(z.object({ id: z.string(), name: z.string() })).meta({
      description:
        'The first 100 of them, and the caller in an answer to a read. Events and answers to changes name only the first ' +
        'ones: `user` of the event says who added or removed the reaction that `name` says',
    }),
  })
  .meta({ id: 'Reaction' });

/** A message, the same at every endpoint and in every event. */
export const MessageView = z
  .object({
    ...MESSAGE_FIELDS,
    reactions: z.array(Reaction),
    reply_count: z.int(),
    latest_reply_at: nanoseconds().nullable(),
    reply_to_message: QuotedMessage.nullable(),
  })
  .meta({ id: 'Message' });
export type MessageView = z.infer<typeof MessageView>;

/** The answer to posting: the message, with the client's own id for it. */
export const PostedMessage = MessageView.extend({ temp_id: z.string().nullable() }).meta({
  id: 'PostedMessage',
});
export type PostedMessage = z.infer<typeof PostedMessage>;

/** What happens to messages, as the event log of their channel names it. */
export const MESSAGE_EVENTS = [
  'message',
  'message:update',
  'message:delete',
  'message:reply',
  'message:reaction:add',
  'message:reaction:remove',
] as const;
export type MessageEventType = (typeof MESSAGE_EVENTS)[number];

const MEMBERS = [...Object.keys(PostedMessage.shape), 'name'];

/** The same message with its members in the order of the schema, in which every answer has them. */
export function inOrder<View extends object>(message: View): View {
  const given = message as Record<string, unknown>;
  const ordered: Record<string, unknown> = {};
  for (const member of MEMBERS) if (member in given) ordered[member] = given[member];
  return ordered as View;
}
