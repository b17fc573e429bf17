import { type DestinationStream, type Level, type Logger, type LoggerOptions, pino } from 'pino';
import { OUTAGES, outageIn } from './core/outage.ts';
import type { Env } from './env.ts';

/**
 * The log of the process: JSON lines on standard error. Of an error it keeps what it is and where it came from; libraries hang more
 * on theirs, such as the command that failed with all its arguments, and those hold passwords and people's messages.
 *
 * The same warning or error comes at most once a second, with how often it was `repeated` meanwhile; all that fails in an outage of
 * the database is the same. Lines with a request id are kept apart: callers were told these ids.
 */
export const createLog = (level: Env['LOG_LEVEL'], to: DestinationStream = pino.destination(2)): Logger =>
  pino({ level, serializers: { err: describeError }, hooks: { logMethod: mergeRepeated() } }, to);

const MERGE_MS = 1_000;
const WARN = pino.levels.values['warn' satisfies Level] ?? 0;
type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

function mergeRepeated(): LogMethod {
  /** How often each text was not written since it was last. */
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
    const timer = setInterval(() => {
      const since = repeated.get(message) ?? 0;
      if (since > 0) {
        repeated.set(message, 0);
        write.call(this, { ...members, repeated: since }, message);
        return;
      }
      repeated.delete(message);
      clearInterval(timer);
    }, MERGE_MS).unref();
  };
}

/** What a line says: its members, if it has any, and its text. */
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
