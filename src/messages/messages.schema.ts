import { z } from 'zod';
import { Author } from '../channelbase/channels.brief.schema.ts';
import { freeFormWithout, nanoseconds } from '../core/wire.ts';

/** Data of a message for programs: files and other members. */
// A record, because an object schema would not keep the order of other members.
export const MessageData = z.record(z.string(), z.unknown()).meta({
  id: 'MessageData',
  override: ({ jsonSchema }) => {
    jsonSchema.properties = { files: { type: 'array', items: {}, description: 'Empty without files' } };
    jsonSchema.required = ['files'];
  },
}) as z.ZodType as z.ZodType<{ files: unknown[]; [member: string]: unknown }>;

/**
 * The members of `data` and `meta` that people may send. The other members describe what the server did:
 * clients use them to show messages of models and programs, and unfinished, failed, abridged or deleted
 * messages. They are dropped, not refused, so that a client may send back what it read; an edit leaves their
 * stored values unchanged.
 */
export const SentForms = {
  data: freeFormWithout(['tool_calls', 'reasoning'])
    .nullish()
    .describe('`files`, and members of the client; `tool_calls` and `reasoning` are dropped'),
  meta: freeFormWithout([
    'model_id',
    'model_name',
    'done',
    'stopped',
    'mentions',
    'context',
    'tools_offered',
    'finish_reason',
    'usage',
    'first_token_ms',
    'total_ms',
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
  /** Null if the account was deleted. */
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

/** A message, the same at all endpoints and in all events. */
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

/** The answer to a post: the message with the client's own id. */
export const PostedMessage = MessageView.extend({ temp_id: z.string().nullable() }).meta({
  id: 'PostedMessage',
});
export type PostedMessage = z.infer<typeof PostedMessage>;

/** The event types of messages in a channel's log. */
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

/** The same message with its members in the order of the schema, as in all answers. */
export function inOrder<View extends object>(message: View): View {
  const given = message as Record<string, unknown>;
  const ordered: Record<string, unknown> = {};
  for (const member of MEMBERS) if (member in given) ordered[member] = given[member];
  return ordered as View;
}
