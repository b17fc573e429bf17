import { z } from 'zod';
import { jsonList } from '../core/json.ts';
import { router } from '../core/trpc.ts';
import { freeForm, id, LIMITS, label, page, text } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { postMessage } from './messages.post.ts';
import { MessageView, PostedMessage } from './messages.schema.ts';
import { deleteMessage, editMessage, getMessage, listMessages } from './messages.service.ts';

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
    .output(jsonList(MessageView))
    .query(({ ctx, input: { id: channelId, ...paging } }) => listMessages(ctx.scope, channelId, paging)),

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
        data: freeForm().nullish(),
        meta: freeForm().nullish(),
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
    .input(
      z.object({ ...oneMessage, content: content(), data: freeForm().nullish(), meta: freeForm().nullish() }),
    )
    .output(MessageView)
    .mutation(({ ctx, input }) => editMessage(ctx.scope, input)),

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
