import type { Env } from './env.ts';

/** How long the parts of a process may take to stop before the process ends anyway. */
export const STOP_PATIENCE_MS = 15_000;
/** A terminal's Ctrl-C arrives twice under `npm start`: from the terminal and from npm. A later one is a second Ctrl-C. */
export const SAME_SIGNAL_MS = 500;
/** The default of `SHUTDOWN_GRACE` when other processes may serve, in seconds. */
const GRACE_AMONG_OTHERS = 5;

/** How long calls are still served after SIGTERM. Without other processes there is nowhere for clients to go, so no wait. */
export const graceOf = ({ SHUTDOWN_GRACE, REDIS_URL }: Pick<Env, 'SHUTDOWN_GRACE' | 'REDIS_URL'>): number =>
  1000 * (SHUTDOWN_GRACE ?? (REDIS_URL ? GRACE_AMONG_OTHERS : 0));

/**
 * Calls back for the signals that end a server. Orchestrators send SIGTERM; the other signals come from a terminal, where a wait has no
 * use.
 */
export function onStopSignal(stop: (signal: NodeJS.Signals, isPatient: boolean) => void): void {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(signal, false));
  process.on('SIGTERM', () => stop('SIGTERM', true));
}

/** Writes what an operator reads of a start that succeeded. */
export function welcome({ url, isNew }: { url: string; isNew: boolean }, env: Env): void {
  const lines = [
    '',
    `  Parley is running at ${url}${env.WORKERS > 1 ? `, in ${env.WORKERS} processes` : ''}`,
    `  Data: ${env.DATABASE_URL ? 'your database, and ' : ''}${env.DATA_DIR}`,
  ];
  if (isNew) lines.push('  Open it in a browser: the first account becomes the administrator.');
  process.stdout.write([...lines, '', ''].join('\n'));
}

/** Errors with a line for the operator are shown as that line, defects with their stack. */
export function fail(error: unknown, isForOperator: boolean): never {
  const { message, stack } = error as Error;
  process.stderr.write(`${isForOperator ? message : (stack ?? error)}\n`);
  process.exit(1);
}
