/**
 * The author of a message: an account, an incoming webhook of the channel, or a model. `user_id` of the
 * message is always an account: the author itself, the creator of the webhook, or the account that called the
 * model.
 */
export type MessageAuthor = { type: 'user'; id: null } | { type: 'webhook' | 'model'; id: string };

/** The author is the account in `user_id`. */
export const BY_USER: MessageAuthor = { type: 'user', id: null };

/*
 * SQL about the author of the row `m`. Clients see the account as the author of a model's message;
 * `meta.model_id` names the model.
 */

export const isByUser = (m: string) => `${m}.author_type = 'user'`;
/** A message by a program counts as unread also for the account in `user_id`. */
export const isByProgram = (m: string) => `${m}.author_type <> 'user'`;
const isByWebhook = (m: string) => `${m}.author_type = 'webhook'`;

/** The current name of the webhook. */
const webhookName = (m: string) =>
  `coalesce((select w.name from channel_webhook w where w.id = ${m}.author_id::uuid), 'Deleted Webhook')`;

/** The author as clients see it, as JSON. @param u the account of the message, from a left join */
export const authorJson = (m: string, u: string) => `case
    when ${isByWebhook(m)}
    then json_build_object('id', ${m}.author_id, 'name', ${webhookName(m)}, 'role', 'webhook')
    when ${u}.id is not null then json_build_object('id', ${u}.id, 'name', ${u}.name, 'role', ${u}.role) end`;

/** The same as columns `author_id`, `author_name`, `author_role`. */
export const authorColumns = (m: string, u: string) =>
  `case when ${isByWebhook(m)} then ${m}.author_id else ${u}.id::text end as author_id,
  case when ${isByWebhook(m)} then ${webhookName(m)} else ${u}.name end as author_name,
  case when ${isByWebhook(m)} then 'webhook' else ${u}.role end as author_role`;

/** Whether clients see an author with this id. @param id SQL for the id, as uuid */
export const isFrom = (m: string, id: string) =>
  `(${m}.user_id = ${id} and not ${isByWebhook(m)} or ${isByWebhook(m)} and ${m}.author_id = ${id}::text)`;
