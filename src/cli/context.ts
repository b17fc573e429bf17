import type { Readable, Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Env } from '../env.ts';

/** The streams of a command: those of the process, or those of a test. */
export interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable;
}

/** The context of every command. */
export interface CommandContext extends Streams {
  env: Env;
  log: Logger;
}
