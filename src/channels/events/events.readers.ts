import type { Sql } from '../../database/sql.ts';
import { listReaders } from '../channels.repository.ts';

/** Says who of some users may read a channel, and perhaps of some more who were asked for at the same time. */
export type AskReaders = (channelId: string, userIds: string[]) => Promise<ReadonlySet<string>>;

/**
 * When the readers of a channel change, every subscriber asks whether it is still one. All who ask in one turn of the event loop share
 * a statement, which begins after the last of them has asked.
 */
export function createReaders(sql: Sql): AskReaders {
  const questions = new Map<string, { users: Set<string>; answer: Promise<ReadonlySet<string>> }>();

  function open(channelId: string) {
    const users = new Set<string>();
    const answer = new Promise((resolve) => setImmediate(resolve)).then(async () => {
      questions.delete(channelId);
      return new Set(await listReaders(sql, channelId, [...users]));
    });
    const question = { users, answer };
    questions.set(channelId, question);
    return question;
  }

  return (channelId, userIds) => {
    const { users, answer } = questions.get(channelId) ?? open(channelId);
    for (const id of userIds) users.add(id);
    return answer;
  };
}
