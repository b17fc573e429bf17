import { setTimeout as delay } from 'node:timers/promises';
import { v4 as uuidv4 } from 'uuid';
import { openInbox } from '../../auth/watch.ts';
import { AppError } from '../../core/errors.ts';
import { ForeignJson } from '../../core/json/json.ts';
import { derivedScope, type Scope } from '../../core/scope.ts';
import type { Inbox } from '../../core/subscription.ts';
import { traceWork } from '../../core/tracing.ts';
import { requireRight } from '../tools.access.ts';
import { callTool, type ToolCall } from './call.service.ts';

/**
 * An event of a run that its caller watches. `result` is the last; a failure ends the subscription instead.
 */
type ToolRunEvent =
  | { type: 'started'; run_id: string }
  /** An event of the function. */
  | { type: 'event'; event: unknown }
  /** A question of the function; `POST /tools/runs/{run_id}/answer` takes the answer. */
  | { type: 'ask'; ask: number; event: unknown }
  | { type: 'result'; result: unknown; duration_ms: number };

interface Answer {
  run: string;
  ask: number;
  /** Names this answer, so that of two at once only the accepted one is confirmed. */
  id: string;
  /** The person that answers: only the caller of the function may. */
  userId: string;
  answer: unknown;
}

declare module '../../events/bus.ts' {
  interface BusTopics {
    /** An answer for a run, which may be on any process. */
    'tool.answer': Answer;
    /** This answer was accepted. */
    'tool.answered': { id: string };
  }
}

/** How long another process may take to accept an answer. */
const HANDOVER_MS = 2_000;

export interface LiveCall extends Pick<ToolCall, 'id' | 'function' | 'arguments'> {
  lastEventId?: string | null | undefined;
}

/**
 * Runs a function and reports its events. The run ends with its subscription. A client that reconnects does
 * not resume it: the effects of a function cannot be undone, so the function must not run twice.
 *
 * @throws not_found, tool_forbidden, bad_request after a reconnect, rate_limited when the connection has too
 * many
 */
export async function openRun(scope: Scope, call: LiveCall) {
  if (call.lastEventId) {
    const detail =
      'The connection broke, and the run was ended with it. Run the function again if you want to.';
    throw new AppError('bad_request', { detail });
  }
  const { id } = await requireRight(scope, call.id, 'read');
  const inbox = openInbox(scope);
  inbox.onClose(
    scope.bus.subscribe('tool.shared', (shared) => {
      if (shared.id === id) inbox.recheck();
    }),
  );
  return stream(scope, { ...call, id }, inbox);
}

async function* stream(scope: Scope, call: LiveCall, inbox: Inbox) {
  const run = uuidv4();
  const over = new AbortController();
  const items = [new ForeignJson<ToolRunEvent>(`{"type":"started","run_id":"${run}"}`)];
  /** The rest of an item as JSON: the tool wrote most of it. */
  const push = (type: ToolRunEvent['type'], members: string) => {
    items.push(new ForeignJson<ToolRunEvent>(`{"type":"${type}",${members}}`));
    inbox.news();
  };
  let failure: { error: unknown } | undefined;
  let isDone = false;
  let number = 0;
  const questions = openQuestions(scope, run, push);
  const told = {
    ...call,
    signal: over.signal,
    onEvent: (event: string) => push('event', `"event":${event}`),
    onAsk: questions.ask,
  };
  // The call that has opened the subscription is over.
  const describe = () => ({
    name: 'tools.run/function',
    attributes: { 'parley.request_id': scope.request.id },
  });
  const running = traceWork(scope.request.id, describe, () => callTool(scope, told))
    .then(({ result, duration_ms }) => push('result', `"result":${result},"duration_ms":${duration_ms}`))
    .catch((error: unknown) => {
      failure = { error };
    })
    .finally(() => {
      isDone = true;
      inbox.news();
    });
  try {
    for (;;) {
      for (let item = items.shift(); item; item = items.shift()) {
        number += 1;
        yield { id: `${run}:${number}`, event: item };
        // The size of the queue is bounded by the limits on events and answers of a call.
        if (inbox.interrupted) break;
      }
      if (failure) throw failure.error;
      if (isDone && items.length === 0) return;
      const marks = await inbox.next();
      if (!marks) return;
      if (marks.recheck)
        await requireRight(derivedScope(scope, { actor: await scope.identify() }), call.id, 'read');
    }
  } finally {
    questions.close();
    over.abort(new AppError('bad_request', { detail: 'The caller has gone away.' }));
    inbox.close();
    await running;
  }
}

/** The questions of one run, and the answers to them from any process. */
function openQuestions({ bus, actor }: Scope, run: string, push: (type: 'ask', members: string) => void) {
  const open = new Map<number, (answer: unknown) => void>();
  let last = 0;
  const close = bus.subscribe('tool.answer', (message) => {
    const settle = message.run === run && message.userId === actor.id ? open.get(message.ask) : undefined;
    if (!settle) return;
    open.delete(message.ask);
    settle(message.answer);
    bus.publish('tool.answered', { id: message.id });
  });
  return {
    close,
    ask(event: string, { signal }: { signal: AbortSignal }): Promise<unknown> {
      last += 1;
      const number = last;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      open.set(number, resolve);
      const leave = () => {
        open.delete(number);
        reject(new Error('The caller did not answer in time.'));
      };
      signal.addEventListener('abort', leave, { once: true });
      push('ask', `"ask":${number},"event":${event}`);
      return promise.finally(() => signal.removeEventListener('abort', leave));
    },
  };
}

/**
 * Answers a question of a run of the caller. The first answer counts.
 *
 * @throws not_found when no run of the caller waits for the answer
 */
export async function answerRun(
  { bus, actor }: Scope,
  { run_id: run, ask, answer }: { run_id: string; ask: number; answer?: unknown },
): Promise<{ result: true }> {
  const taken = Promise.withResolvers<true>();
  const id = uuidv4();
  const stop = bus.subscribe('tool.answered', (message) => {
    if (message.id === id) taken.resolve(true);
  });
  try {
    bus.publish('tool.answer', { id, run, ask, userId: actor.id, answer });
    const late = delay(bus.shared ? HANDOVER_MS : 0, false, { ref: false });
    if (await Promise.race([taken.promise, late])) return { result: true };
  } finally {
    stop();
  }
  throw new AppError('not_found', { detail: 'No run of yours waits for that answer (any more).' });
}
