import { type Sql, statement } from '../../database/sql.ts';
import type { StoredQuestion } from './questions.entity.ts';
import type { QuestionView } from './questions.schema.ts';

/** A question is open while its attempt writes the reply, and before it is answered or its time is over. */
const IS_OPEN = `r.channel_id = q.channel_id and r.message_id = q.message_id and r.attempt = q.attempt and not r.is_done
  and not r.stop_requested and q.answer is null and q.ends_at > :now::int`;

export interface NewQuestion {
  id: string;
  channelId: string;
  messageId: string;
  attempt: number;
  userId: string;
  question: StoredQuestion;
  /** Unix seconds. */
  endsAt: number;
}

const INSERT = statement<{ id: string }, Omit<NewQuestion, 'question'> & { question: string }>(
  'question.insert',
  `insert into reply_question (id, channel_id, message_id, attempt, user_id, question, ends_at)
   select :id::uuid, channel_id, message_id, attempt, :userId::uuid, :question::jsonb, :endsAt::int from model_reply
    where channel_id = :channelId and message_id = :messageId and attempt = :attempt::int and not is_done and not stop_requested
   returning id`,
);

/** Stores a question. @returns false if the reply has ended, was stopped, or belongs to another attempt */
export const insertQuestion = async (sql: Sql, { question, ...row }: NewQuestion): Promise<boolean> =>
  (await sql.rows(INSERT, { ...row, question: JSON.stringify(question) })).length > 0;

const LIST = statement<QuestionView, { userId: string; now: number }>(
  'question.list',
  `select q.id, q.channel_id, q.message_id, q.ends_at, x.* from reply_question q
     join model_reply r on ${IS_OPEN}
    cross join jsonb_to_record(q.question) as x (call_id text, tool_id text, function text, model_name text, kind text,
      title text, message text, placeholder text, value text, is_secret boolean)
    where q.user_id = :userId order by q.ends_at, q.id limit 100`,
);

/** The open questions for a person, the oldest first. @param now Unix seconds */
export const listQuestions = (sql: Sql, userId: string, now: number): Promise<QuestionView[]> =>
  sql.rows(LIST, { userId, now });

/** Names one question for one person. */
export interface QuestionKey {
  id: string;
  channelId: string;
  messageId: string;
  userId: string;
}

const OF_PERSON =
  'q.id = :id and q.channel_id = :channelId and q.message_id = :messageId and q.user_id = :userId';

const KIND = statement<{ kind: QuestionView['kind'] }, QuestionKey & { now: number }>(
  'question.kind',
  `select q.question ->> 'kind' as kind from reply_question q join model_reply r on ${IS_OPEN} where ${OF_PERSON}`,
);

/** The kind of an open question; undefined for any other. @param key.now Unix seconds */
export const readKind = async (
  sql: Sql,
  key: QuestionKey & { now: number },
): Promise<QuestionView['kind'] | undefined> => (await sql.rows(KIND, key))[0]?.kind;

const ANSWER = statement<{ id: string }, QuestionKey & { answer: string; now: number }>(
  'question.answer',
  `update reply_question q set answer = :answer from model_reply r where ${IS_OPEN} and ${OF_PERSON} returning q.id`,
);

/** Answers an open question. @returns false for any other, also for one that was answered meanwhile */
export const storeAnswer = async (
  sql: Sql,
  answer: QuestionKey & { answer: string; now: number },
): Promise<boolean> => (await sql.rows(ANSWER, answer)).length > 0;

const HAS_ANSWER = statement<{ id: string }, { id: string }>(
  'question.has_answer',
  'select id from reply_question where id = :id and answer is not null',
);

export const hasAnswer = async (sql: Sql, id: string): Promise<boolean> =>
  (await sql.rows(HAS_ANSWER, { id })).length > 0;

const CLOSE = statement<{ answer: string | null }, { id: string }>(
  'question.close',
  'delete from reply_question where id = :id returning answer',
);

/** Ends a question. @returns its sealed answer; null without one */
export async function closeQuestion(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql.rows(CLOSE, { id });
  return row?.answer ?? null;
}

const PRUNE = statement<never, { before: number }>(
  'question.prune',
  'delete from reply_question where ends_at < :before',
);

/** Deletes questions of processes that were killed. @param before Unix seconds */
export const pruneQuestions = (sql: Sql, before: number): Promise<unknown> => sql.rows(PRUNE, { before });
