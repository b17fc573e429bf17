import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { router } from '../core/trpc/trpc.ts';
import { id } from '../core/wire.ts';
import { Answer, QuestionView } from './questions/questions.schema.ts';
import { answerQuestion, listOwnQuestions } from './questions/questions.service.ts';
import { retryReply } from './replies.retry.service.ts';
import { stopReply } from './replies.service.ts';

export const repliesRouter = router({
  stop: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/stop',
        tags: ['messages'],
        summary: 'Stop the reply of a model',
        description:
          'For the person who called the model, those who manage the channel, and administrators who may read it. The ' +
          'connection to the provider is closed; the text so far stays, and `message:update` with `meta.stopped` and ' +
          '`meta.done` follows. A reply that is done stays as it is. 404 for a message that no model wrote.',
      },
      access: 'channel.read',
    })
    .input(z.object({ id: id(), message_id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => stopReply(ctx.scope, input.id, input.message_id)),

  retry: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/retry',
        tags: ['messages'],
        summary: 'Have a failed or stopped reply of a model written again',
        description:
          'For the person who called the model. The message is emptied, which `message:update` with `meta.done` ' +
          'false says, and written anew as at the first time; its earlier text leaves the event log. A reply ' +
          'that is still written or has succeeded is refused with 400, a message that no model wrote with 404. ' +
          'Counts as a post for the configured limits (429).',
        errorResponses: [429],
      },
      access: 'channel.write',
    })
    .input(z.object({ id: id(), message_id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => retryReply(ctx.scope, input.id, input.message_id)),

  questions: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/questions',
        tags: ['messages'],
        summary: 'List the questions of tools that wait for you',
        description:
          'The tools that models call for the caller ask with `__event_call__`. A question comes as the notice ' +
          '`message:ask`; this list is for clients that connect later. The oldest first, at most 100.',
      },
      access: 'member',
    })
    .output(z.array(QuestionView))
    .query(({ ctx }) => listOwnQuestions(ctx.scope)),

  answer: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/answer',
        tags: ['messages'],
        summary: 'Answer a question of a tool that a model called',
        description:
          'Only for the person who called the model, and only while the tool waits (5 minutes). The first answer ' +
          'counts: a later one, and one to a reply that was stopped, answer 404. A confirmation takes true or ' +
          'false, an input a text, or false to decline.',
      },
      access: 'channel.read',
    })
    .input(z.object({ id: id(), message_id: id(), question_id: id(), answer: Answer }))
    .output(z.boolean())
    .mutation(({ ctx, input: { id: channelId, message_id: messageId, question_id, answer } }) =>
      answerQuestion(ctx.scope, { id: question_id, channelId, messageId, answer }),
    ),
});
