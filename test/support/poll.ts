/**
 * Waits until a condition holds, checking again and again; fails after the deadline with the name of the
 * condition. The deadline is long because a busy machine may be many times slower than another. The pauses grow
 * with the wait, since each check takes processor time from the server that the test waits for.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  deadlineMs = 60_000,
): Promise<NonNullable<T>> {
  const began = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    const waitedMs = Date.now() - began;
    if (waitedMs > deadlineMs) throw new Error(`Waited ${deadlineMs} ms for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(5 + waitedMs / 20, 50)));
  }
}
