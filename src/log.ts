import { type DestinationStream, type Logger, pino } from 'pino';
import type { Env } from './env.ts';

/**
 * The log of the process: JSON lines on standard error. Of an error it keeps what it is and where it came from; libraries hang more
 * on theirs, such as the command that failed with all its arguments, and those hold passwords and people's messages.
 */
export const createLog = (level: Env['LOG_LEVEL'], to: DestinationStream = pino.destination(2)): Logger =>
  pino({ level, serializers: { err: describeError } }, to);

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
