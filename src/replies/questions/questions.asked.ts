import { v4 as uuidv4 } from 'uuid';
import { z } from 'zod';
import type { Author } from '../../channelbase/channels.brief.schema.ts';
import type { PersonQuestion } from '../../completions/completions.types.ts';
import type { Parts } from '../../core/scope.ts';
import { nowSeconds } from '../../core/time.ts';
import { storable } from '../growing/growing.calls.ts';
import type { OpenReply } from '../replies.repository.ts';
import type { StoredQuestion } from './questions.entity.ts';
import { closeQuestion, hasAnswer, insertQuestion } from './questions.repository.ts';
import type { Answer, QuestionView } from './questions.schema.ts';
import { unsealAnswer } from './questions.seal.ts';

declare module '../../events/bus.ts' {
  interface BusTopics {
    /** A question was answered; any process may wait for it. The answer is in the database. */
    'reply.answered': { id: string };
  }
}

const NO_ANSWER = 'The person did not answer in time.';

/** A text of a tool: cut to so many characters, since it need not fit into a dialog. */
const line = (characters: number) =>
  z
    .string()
    .catch('')
    .transform((value) => storable(value.slice(0, characters)));

/** What a tool gives to `__event_call__`, in the forms that published tools use. */
const Asked = z.object({
  type: z.enum(['confirmation', 'input']),
  data: z
    .object({
      title: line(200),
      message: line(4_000),
      placeholder: line(200),
      value: line(4_000),
      type: line(20),
    })
    .catch({ title: '', message: '', placeholder: '', value: '', type: '' }),
});

interface Asking {
  parts: Pick<Parts, 'sql' | 'bus' | 'log' | 'secret'>;
  reply: OpenReply;
  modelName: string;
  /** The person, as clients see the sender of a notice. */
  person: Author;
}

/**
 * Asks the person who called the model on all their connections, and waits for the answer, which any process may take.
 *
 * @throws Error with a message for the tool: no question for a person, no answer in time, an outage
 */
export async function askPerson(
  asking: Asking,
  { signal, limitMs, ...asked }: PersonQuestion,
): Promise<Answer> {
  const { parts, reply } = asking;
  const id = uuidv4();
  const endsAt = nowSeconds() + Math.round(limitMs / 1_000);
  const question = { ...questionOf(asked), model_name: asking.modelName };
  const waiting = waitFor(parts, id, signal);
  try {
    const { channel_id: channelId, message_id: messageId, attempt, user_id: userId } = reply;
    const row = { id, channelId, messageId, attempt, userId, question, endsAt };
    if (!(await insertQuestion(parts.sql, row))) throw new Refusal('The reply of the model has ended.');
    const view = { ...question, id, channel_id: channelId, message_id: messageId, ends_at: endsAt };
    notify(asking, 'message:ask', view);
    await waiting.over;
    return await take(asking, id);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    parts.log.error({ err: error }, 'A question of a tool failed.');
    throw new Error('The person could not be asked.');
  } finally {
    waiting.end();
  }
}

/** An error whose message is for the tool. */
class Refusal extends Error {}

function questionOf({
  call,
  event,
}: Pick<PersonQuestion, 'call' | 'event'>): Omit<StoredQuestion, 'model_name'> {
  const asked = Asked.safeParse(JSON.parse(event));
  if (!asked.success) throw new Refusal('A person is asked with the type "confirmation" or "input" only.');
  const { type: kind, data } = asked.data;
  const { type, ...texts } = data;
  const is_secret = kind === 'input' && type === 'password';
  return { call_id: call.id, tool_id: call.tool_id, function: call.name, kind, ...texts, is_secret };
}

/** Resolves when the question is answered, or when the tool waits no longer. */
function waitFor({ bus, sql, log }: Asking['parts'], id: string, signal: AbortSignal) {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const wake = () => resolve();
  const look = () =>
    hasAnswer(sql, id).then(
      (isAnswered) => isAnswered && wake(),
      (error) => log.warn({ err: error }, 'Reading the answer of a person failed.'),
    );
  const ends = [
    bus.subscribe('reply.answered', (answered) => answered.id === id && wake()),
    bus.onGap(() => void look()),
  ];
  signal.addEventListener('abort', wake, { once: true });
  if (signal.aborted) wake();
  return {
    over,
    end() {
      signal.removeEventListener('abort', wake);
      for (const end of ends) end();
    },
  };
}

/** Ends the question on all pages, and takes the answer, also one that came at the last moment. */
async function take(asking: Asking, id: string): Promise<Answer> {
  const { parts } = asking;
  const sealed = await closeQuestion(parts.sql, id);
  notify(asking, 'message:ask:done', { id });
  if (sealed === null) throw new Refusal(NO_ANSWER);
  return unsealAnswer(parts.secret, sealed, id);
}

function notify(
  { parts, reply: { channel_id, message_id }, person }: Asking,
  type: 'message:ask' | 'message:ask:done',
  data: QuestionView | { id: string },
): void {
  parts.bus.publish('channel.notice', {
    to: { userIds: [person.id] },
    notice: { channel_id, message_id, data: { type, data: { ...data } }, user: person },
  });
}
