import type { Logger } from 'pino';
import type { Env } from '../env.ts';

/** What every command works with. */
export interface CommandContext {
  env: Env;
  log: Logger;
}
