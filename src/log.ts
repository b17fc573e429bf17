import { type DestinationStream, type Level, type Logger, type LoggerOptions, pino } from 'pino';
import { OUTAGES, outageIn } from './core/outage.ts';
import { currentWork, outsideCalls } from './core/work.ts';
import type { Env } from './env.ts';

/**
 * The log of the process: JSON lines on standard error. An error is logged only with type, message, code and stack: libraries add more
 * members, such as a failed command with its arguments, which hold passwords and messages of people.
 *
 * Each line that is written for a request has its id, and `trace_id` while the request is traced.
 *
 * Equal warnings and errors are written at most once a second, with their count as `repeated`; all failures of an outage of the
 * database count as equal. Lines whose code names a request id are never merged, because callers got these ids.
 */
export const createLog = (level: Env['LOG_LEVEL'], to: DestinationStream = pino.destination(2)): Logger =>
  pino(
    { level, mixin: nameWork, serializers: { err: describeError }, hooks: { logMethod: mergeRepeated() } },
    to,
  );

function nameWork(): object {
  const { requestId, span } = currentWork() ?? {};
  return { ...(requestId && { request_id: requestId }), ...(span?.traceId && { trace_id: span.traceId }) };
}

const MERGE_MS = 1_000;
const WARN = pino.levels.values['warn' satisfies Level] ?? 0;
type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

function mergeRepeated(): LogMethod {
  /** How often each text was left out since it was last written. */
  const repeated = new Map<string, number>();

  return function (this: Logger, args, write, level) {
    const [about, text] = args as unknown[];
    if (level < WARN) return write.apply(this, args);
    const { members, message } = wordsOf(about, text);
    if (message === undefined || members.request_id !== undefined) return write.apply(this, args);
    const count = repeated.get(message);
    if (count !== undefined) {
      repeated.set(message, count + 1);
      return;
    }
    write.call(this, members, message);
    repeated.set(message, 0);
    const summarize = () => {
      const since = repeated.get(message) ?? 0;
      if (since > 0) {
        repeated.set(message, 0);
        write.call(this, { ...members, repeated: since }, message);
        return;
      }
      repeated.delete(message);
      clearInterval(timer);
    };
    // The later lines count those of many requests.
    const timer = outsideCalls(() => setInterval(summarize, MERGE_MS).unref());
  };
}

/** The arguments of a line: its members, if any, and its text. */
function wordsOf(about: unknown, text: unknown): { members: Record<string, unknown>; message?: string } {
  if (typeof about === 'string') return { members: {}, message: about };
  const members = { ...(about as object) } as Record<string, unknown>;
  if (typeof text !== 'string') return { members };
  const outage = outageIn(members.err);
  return outage
    ? { members: { ...members, during: text }, message: OUTAGES[outage] }
    : { members, message: text };
}

interface Described {
  type: string;
  message: string;
  stack: string | undefined;
  code?: unknown;
}

function describeError(error: unknown): Described | { message: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack } = error;
  return { type: name, message, stack, ...('code' in error && { code: error.code }) };
}
