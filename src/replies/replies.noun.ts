import { defineNoun } from '../noun.ts';
import { ReplyQuestion } from './questions/questions.entity.ts';
import { ModelReply } from './replies.entity.ts';
import { errors } from './replies.errors.ts';
import { replyJob } from './replies.job.ts';
import { measureReplies, startReplies } from './replies.parts.ts';
import { repliesRouter } from './replies.router.ts';

export const replies = defineNoun({
  name: 'replies',
  errors,
  routers: { replies: repliesRouter },
  entities: [ModelReply, ReplyQuestion],
  jobs: [replyJob],
  metrics: measureReplies,
  start: startReplies,
  onAccountDeleted: 'rows stay',
});
