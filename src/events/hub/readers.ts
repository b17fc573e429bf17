/** The users that may read a stream, among the given ones and perhaps others that were asked about at the same time. */
export type AskReaders = (stream: string, userIds: readonly string[]) => Promise<ReadonlySet<string>>;

/**
 * When the readers of a stream change, every subscriber asks whether it may still read it. All questions of one turn of the event loop
 * share one statement, which begins after the last question.
 */
export function createReaders(
  ask: (stream: string, userIds: readonly string[]) => Promise<string[]>,
): AskReaders {
  const questions = new Map<string, { users: Set<string>; answer: Promise<ReadonlySet<string>> }>();

  function open(stream: string) {
    const users = new Set<string>();
    const answer = new Promise((resolve) => setImmediate(resolve)).then(async () => {
      questions.delete(stream);
      return new Set(await ask(stream, [...users]));
    });
    const question = { users, answer };
    questions.set(stream, question);
    return question;
  }

  return (stream, userIds) => {
    const { users, answer } = questions.get(stream) ?? open(stream);
    for (const id of userIds) users.add(id);
    return answer;
  };
}
