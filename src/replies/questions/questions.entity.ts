import { defineEntity, p } from '@mikro-orm/core';
import type { QuestionView } from './questions.schema.ts';

/** What a question asks, as it is stored. */
export type StoredQuestion = Omit<QuestionView, 'id' | 'channel_id' | 'message_id' | 'ends_at'>;

/**
 * A question that a tool asks the person who called its model. The row lives as long as the tool waits. The migration
 * adds the foreign key to `model_reply`.
 */
export const ReplyQuestion = defineEntity({
  name: 'ReplyQuestion',
  tableName: 'reply_question',
  properties: {
    id: p.uuid().primary(),
    channel_id: p.uuid(),
    message_id: p.uuid(),
    /** The attempt of the reply that asks: a question of an earlier one has ended with its process. */
    attempt: p.integer(),
    /** The person who called the model. */
    user_id: p.uuid(),
    question: p.json().$type<StoredQuestion>(),
    /** JSON, sealed, because people are asked for passwords too. */
    answer: p.text().nullable(),
    /** Unix seconds. */
    ends_at: p.integer(),
  },
  indexes: [
    { name: 'reply_question_person', properties: ['user_id', 'ends_at'] },
    { name: 'reply_question_reply', properties: ['channel_id', 'message_id'] },
  ],
});
