import type { Metrics } from '../core/metrics.ts';
import type { Parts } from '../core/scope.ts';
import { keepSweeping } from '../core/sweep.ts';
import type { Base } from '../noun.ts';
import { answer, endOverdue } from './replies.answer.ts';
import { modelCalls } from './replies.calls.ts';
import { replyJob } from './replies.job.ts';
import type { ReplyKey } from './replies.repository.ts';
import { followRunning } from './replies.running.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly replies: Replies;
  }
}

export interface Replies {
  /** How many replies this process writes. */
  readonly size: number;
  /** Writes one reply; see `answer`. */
  answer(parts: Parts, key: ReplyKey, signal: AbortSignal): Promise<void>;
}

const SWEEP_MS = 30_000;

export function startReplies({ sql, bus, log, warn }: Base) {
  const running = followRunning(bus);
  const sweep = keepSweeping(
    SWEEP_MS,
    () => endOverdue({ sql, bus, log }),
    warn('Overdue replies of models could not be ended.'),
  );
  const replies: Replies = {
    get size() {
      return running.size;
    },
    answer: (parts, key, signal) => answer(parts, running, key, signal),
  };
  return {
    parts: { replies, modelCalls },
    async close() {
      await sweep.close();
      running.close();
    },
  };
}

export function measureReplies(metrics: Metrics, { replies, jobs }: Parts): void {
  metrics.gauge(
    'parley_replies_running',
    'Replies that models write in this process now',
    () => replies.size,
  );
  metrics.gauge(
    'parley_replies_waiting',
    'Replies of models that are due and wait for a process, in the whole database',
    () => jobs.load()[replyJob.name]?.waiting ?? 0,
  );
}
