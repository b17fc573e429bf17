import { defineEntity, p } from '@mikro-orm/core';

/**
 * The reply of a model to a message: one row for each called message and model, so that a repeated call
 * begins no second reply. The row stays when the reply is done. The migration adds the foreign key to
 * `message`.
 */
export const ModelReply = defineEntity({
  name: 'ModelReply',
  tableName: 'model_reply',
  properties: {
    channel_id: p.uuid().primary(),
    /** The message with the text of the model. */
    message_id: p.uuid().primary(),
    /** The message that called the model. */
    called_by: p.uuid(),
    model_id: p.text(),
    /** The account that called the model, also through other models. The account may be deleted. */
    user_id: p.uuid(),
    /** The API key of that call; its restrictions apply to the reply. */
    key_id: p.uuid().nullable(),
    /** 1 when a person called the model, 2 when a model did that a person had called, and so on. */
    depth: p.integer(),
    /** The number of attempts so far: writes of an earlier attempt are refused. */
    attempt: p.integer().default(0),
    /** The value of `attempt` when a person last had the reply written again; 0 if no person did. */
    earlier_attempts: p.integer().default(0),
    /** Whether an attempt has saved text or called a tool: the reply is then not repeated. */
    has_begun: p.boolean().default(false),
    stop_requested: p.boolean().default(false),
    is_done: p.boolean().default(false),
    /** Unix seconds. A reply that is not done by then has failed. */
    ends_by: p.integer(),
  },
  uniques: [{ name: 'model_reply_called', properties: ['channel_id', 'called_by', 'model_id'] }],
  indexes: [
    {
      name: 'model_reply_open',
      expression: 'create index "model_reply_open" on "model_reply" ("ends_by") where not "is_done"',
    },
  ],
});
