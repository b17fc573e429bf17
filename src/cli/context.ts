import type { Logger } from 'pino';
import type { Env } from '../env.ts';

/** The context of every command. */
export interface CommandContext {
  env: Env;
  log: Logger;
}
