import { z } from 'zod';
import { uncheckedList } from '../core/json.ts';
import { router } from '../core/trpc.ts';
import { id, LIMITS, label, page, pageNumber, text } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { postMessage } from './messages.post.ts';
import { MessageData, MessageView, PostedMessage, SentForms } from './messages.schema.ts';
import {
  deleteMessage,
  editMessage,
  getMessage,
  listMessages,
  listPinned,
  listThread,
} from './messages.service.ts';
import { pinMessage } from './pins.service.ts';

const inChannel = { id: id() };
const oneMessage = { ...inChannel, message_id: id() };
const content = () => text(LIMITS.contentBytes);

export const messagesRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/messages',
        tags: ['messages'],
        summary: 'The newest messages of the main line',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, ...page }))
    .output(uncheckedList(MessageView))
    .query(({ ctx, input: { id: channelId, ...paging } }) => listMessages(ctx.scope, channelId, paging)),

  pinned: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/messages/pinned',
        tags: ['messages'],
        summary: 'The pinned messages, the newest pin first, 20 a page',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...inChannel, page: pageNumber() }))
    .output(uncheckedList(MessageView))
    .query(({ ctx, input }) => listPinned(ctx.scope, input.id, input.page)),

  post: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/post',
        tags: ['messages'],
        summary: 'Post a message',
      },
      access: 'channel.write',
    })
    .input(
      z.object({
        ...inChannel,
        content: content(),
        reply_to_id: id().nullish(),
        parent_id: id().nullish(),
        ...SentForms,
        temp_id: label().nullish(),
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
        summary: 'The data of a message alone',
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
        summary: 'The replies to a message, newest first',
      },
      access: 'channel.read',
    })
    .input(z.object({ ...oneMessage, ...page }))
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
        summary: 'Edit a message: its author, and writers of the channel',
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
      },
      access: 'channel.read',
    })
    .input(z.object({ ...oneMessage, is_pinned: z.boolean() }))
    .output(MessageView)
    .mutation(({ ctx, input }) => pinMessage(ctx.scope, input)),

  delete: channelMember
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/channels/{id}/messages/{message_id}/delete',
        tags: ['messages'],
        summary: 'Delete a message: its author, and writers of the channel',
      },
      access: 'channel.read',
    })
    .input(z.object(oneMessage))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteMessage(ctx.scope, input.id, input.message_id)),
});
