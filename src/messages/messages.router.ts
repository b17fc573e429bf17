import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { uncheckedList } from '../core/json/json.ts';
import { router } from '../core/trpc/trpc.ts';
import { id, LIMITS, label, moment, page, pageNumber, text } from '../core/wire.ts';
import { postMessage } from './messages.post.ts';
import { MessageData, MessageView, PostedMessage, SentForms } from './messages.schema.ts';
import {
  deleteMessage,
  editMessage,
  getMessage,
  listMessages,
  listPinned,
  listThread,
  listWithFiles,
} from './messages.service.ts';
import { pinMessage } from './pins.service.ts';

const inChannel = { id: id() };
const oneMessage = { ...inChannel, message_id: id() };
const content = () => text(LIMITS.contentBytes);

const nextTo = {
  before: id().optional().describe('The newest messages that are older than this one'),
  after: id().optional().describe('The oldest messages that are newer than this one'),
  around: id().optional().describe('This message with those before and after it'),
};
const atTime = {
  at: moment()
    .optional()
    .describe('The same around the first message at or after this time, nanoseconds; else around the newest'),
};
const PLACES = [...Object.keys(nextTo), ...Object.keys(atTime)];

/** A list begins at one place. */
const onlyOne = <Input extends z.ZodObject>(input: Input) => {
  const names = PLACES.filter((name) => name in input.shape);
  return input.refine(
    (sent) => {
      const places = names.filter((name) => sent[name] !== undefined);
      return places.length === 0 || (places.length === 1 && sent.skip === 0);
    },
    `send at most one of ${names.join(', ')}, and none of them with skip`,
  );
};

export const messagesRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/messages',
        tags: ['messages'],
        summary: 'List the messages of a channel without replies',
        description:
          'Newest first; replies are left out and counted in `reply_count` of their root. `before` and `after` ' +
          'answer the messages next to a message, `around` and `at` a window with half of `limit` on each ' +
          'side: at most one of them may be sent, without `skip`. A page with fewer messages than `limit` on ' +
          'a side has reached the end of that side. For a reply, its root is the message that they name; a ' +
          'message that the channel does not have is answered with 404. The newest page has an `ETag`: a ' +
          'client that sends it back in `If-None-Match` gets 304 while nothing has changed. A deleted message ' +
          'that still has replies stays, with empty `content` and `meta.deleted`. A page holds at most 4 ' +
          'MiB of whole messages: beyond that, messages over 4 KiB are cut and have `meta.abridged`; read ' +
          'them one by one.',
      },
      access: 'channel.read',
    })
    .input(onlyOne(z.object({ ...inChannel, ...page, ...nextTo, ...atTime })))
    .output(uncheckedList(MessageView))
    .query(({ ctx, input: { id: channelId, ...paging } }) => listMessages(ctx.scope, channelId, paging)),

  pinned: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/messages/pinned',
        tags: ['messages'],
        summary: 'List the pinned messages of a channel',
        description:
          'The newest pin first, 20 a page; pinned replies are included. The limit of 4 MiB a page is that ' +
          'of `GET /channels/{id}/messages`.',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, page: pageNumber() }))
    .output(uncheckedList(MessageView))
    .query(({ ctx, input }) => listPinned(ctx.scope, input.id, input.page)),

  withFiles: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/messages/files',
        tags: ['messages'],
        summary: 'List the messages of a channel that carry files',
        description:
          'Messages with uploaded files, replies included, newest first and 20 a page; `data.files` names ' +
          'the files. The limit of 4 MiB a page is that of `GET /channels/{id}/messages`.',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, page: pageNumber() }))
    .output(uncheckedList(MessageView))
    .query(({ ctx, input }) => listWithFiles(ctx.scope, input.id, input.page)),

  post: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/post',
        tags: ['messages'],
        summary: 'Post a message',
        description:
          '`data.files` may name at most 20 files, which the caller must be able to read; the readers of ' +
          "the message can then read them too. The same author's post with the same `temp_id` in the same " +
          'channel is stored once within 24 hours: a repeat answers the stored message as it is now and ' +
          'sends nothing. Sends `message`, and `message:reply` with the changed root for a reply. Mentions ' +
          'are read from `content`: `@name`, `<@U:id|label>`, `@here` and `@channel`. `@model_id`, ' +
          '`<@M:model_id|label>` and a `reply_to_id` at a message of a model call models, which the caller must ' +
          'be able to use: `meta.mentions` names those of the text, and each answers with a message of its own. An unknown ' +
          '`parent_id`, `reply_to_id` or file is refused with 400, and the limits that the configuration ' +
          'sets with 429 (messages a minute) and 507 (stored bytes).',
        errorResponses: [429, 507],
      },
      access: 'channel.write',
    })
    .input(
      z.object({
        ...inChannel,
        content: content(),
        reply_to_id: id().nullish().describe('Message of the channel that this one quotes'),
        parent_id: id()
          .nullish()
          .describe('Message whose thread this one joins; of a reply, the thread that it is in'),
        ...SentForms,
        temp_id: label()
          .nullish()
          .describe("The client's own id of the post; answered and sent with its event"),
      }),
    )
    .output(PostedMessage)
    .mutation(({ ctx, input }) => postMessage(ctx.scope, input)),

  get: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/messages/{message_id}',
        tags: ['messages'],
        summary: 'Get a message',
        description:
          'Answers the whole message, however long, with its reactions, its count of replies and the ' +
          'message that it quotes. A deleted message that still has replies is answered with empty ' +
          '`content` and `meta.deleted`.',
      },
      access: 'channel.read',
    })
    .input(z.object(oneMessage))
    .output(MessageView)
    .query(({ ctx, input }) => getMessage(ctx.scope, input.id, input.message_id)),

  data: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/messages/{message_id}/data',
        tags: ['messages'],
        summary: 'Get the `data` of a message',
        description: 'Answers `data` alone, whole also where lists cut it. `files` is always an array.',
      },
      access: 'channel.read',
    })
    .input(z.object(oneMessage))
    .output(MessageData)
    .query(async ({ ctx, input }) => (await getMessage(ctx.scope, input.id, input.message_id)).data),

  thread: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/messages/{message_id}/thread',
        tags: ['messages'],
        summary: 'List the replies to a message',
        description:
          'Newest first; the root itself is not among them. The id of a reply, which has no replies of its ' +
          'own, gives an empty list. `before`, `after` and `around` name replies of this thread (404 otherwise), at most ' +
          'one of them and without `skip`. The limit of 4 MiB a page is that of `GET /channels/{id}/messages`.',
      },
      access: 'channel.read',
    })
    .input(onlyOne(z.object({ ...oneMessage, ...page, ...nextTo })))
    .output(uncheckedList(MessageView))
    .query(({ ctx, input: { id: channelId, message_id, ...paging } }) =>
      listThread(ctx.scope, channelId, message_id, paging),
    ),

  update: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/update',
        tags: ['messages'],
        summary: 'Edit a message',
        description:
          'For the author; in a standard channel also for all who may write, in a group for its managers, ' +
          'and in a group or direct channel for administrators who are in it. Replaces `content` and ' +
          'mentions; the members of `data` and `meta` are merged into the stored ones, each at most 256 KiB ' +
          'afterwards, and `data.files` replaces the files. Sends `message:update`, and removes the earlier ' +
          'text from the event log. Edits count as posts for the configured limits (429, 507).',
        errorResponses: [429, 507],
      },
      access: 'channel.read',
    })
    .input(z.object({ ...oneMessage, content: content(), ...SentForms }))
    .output(MessageView)
    .mutation(({ ctx, input }) => editMessage(ctx.scope, input)),

  pin: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/pin',
        tags: ['messages'],
        summary: 'Pin or unpin a message',
        description:
          'All who may read the channel may pin and unpin, replies included. Answers the message. Sends ' +
          '`message:update` when the state changes; a repeat changes nothing and keeps `pinned_by` and ' +
          '`pinned_at`.',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...oneMessage, is_pinned: z.boolean().describe('False takes the pin away') }))
    .output(MessageView)
    .mutation(({ ctx, input }) => pinMessage(ctx.scope, input)),

  delete: channelMember
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/channels/{id}/messages/{message_id}/delete',
        tags: ['messages'],
        summary: 'Delete a message',
        description:
          'For those who may edit it. A message with replies keeps its place with empty `content` and ' +
          '`meta.deleted` until its last reply is deleted; any other is removed. Its text leaves the event ' +
          'log and the quotes in it. Sends `message:delete`, and for a reply `message:reply` with the ' +
          'changed root. A second call is answered with 404.',
      },
      access: 'channel.read',
    })
    .input(z.object(oneMessage))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteMessage(ctx.scope, input.id, input.message_id)),
});
