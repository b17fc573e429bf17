import { requireChannel } from '../../channelbase/channels.access.service.ts';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { nowSeconds } from '../../core/time.ts';
import { listQuestions, readKind, storeAnswer } from './questions.repository.ts';
import type { Answer, QuestionView } from './questions.schema.ts';
import { sealAnswer } from './questions.seal.ts';

/** The questions of tools that wait for the caller, the oldest first. */
export const listOwnQuestions = ({ sql, actor }: Scope): Promise<QuestionView[]> =>
  listQuestions(sql, actor.id, nowSeconds());

/**
 * Answers a question of a tool that a model called for the caller. The first answer counts.
 *
 * @throws not_found when no tool waits for this answer of the caller (any more), bad_request for an answer of the wrong kind
 */
export async function answerQuestion(
  scope: Scope,
  { id, answer, ...reply }: { id: string; channelId: string; messageId: string; answer: Answer },
): Promise<true> {
  const { sql, bus, secret, actor } = scope;
  await requireChannel(scope, reply.channelId, 'read');
  const key = { id, ...reply, userId: actor.id, now: nowSeconds() };
  const kind = await readKind(sql, key);
  if (!kind) throw notWaiting();
  if (kind === 'confirmation' ? typeof answer !== 'boolean' : answer === true) {
    const detail = `answer: must be ${kind === 'confirmation' ? 'true or false' : 'a text, or false to decline'}`;
    throw new AppError('bad_request', { detail });
  }
  if (!(await storeAnswer(sql, { ...key, answer: sealAnswer(secret, answer, id) }))) throw notWaiting();
  bus.publish('reply.answered', { id });
  return true;
}

const notWaiting = () =>
  new AppError('not_found', { detail: 'No tool waits for that answer of yours (any more).' });
