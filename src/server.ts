import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from 'pino';
import project from '../package.json' with { type: 'json' };
import { type App, startApp } from './app.ts';
import { type Env, readEnv, StartError } from './env.ts';
import { createLog } from './log.ts';

/** How long the parts may take to stop before the process ends anyway. */
const STOP_PATIENCE_MS = 15_000;
/** A terminal's Ctrl-C arrives twice under `npm start`: from the terminal and from npm. A later one is a second Ctrl-C. */
const SAME_SIGNAL_MS = 500;
/** The default of `SHUTDOWN_GRACE` when other processes may serve, in seconds. */
const GRACE_AMONG_OTHERS = 5;

let app: Promise<App> | undefined;
let log: Logger | undefined;
/** Set when the server stops; `grace` ends the wait. */
let stopping: { since: number; grace: AbortController } | undefined;

async function stop(exitCode: number, reason: string, graceMs = 0): Promise<void> {
  if (stopping) {
    if (performance.now() - stopping.since > SAME_SIGNAL_MS) stopping.grace.abort();
    return;
  }
  const grace = new AbortController();
  stopping = { since: performance.now(), grace };
  const started = await app?.catch(() => undefined);
  if (started) {
    log?.info({ reason, grace_seconds: graceMs / 1000 }, 'Parley stops.');
    if (graceMs > 0) started.drain();
    await delay(graceMs, undefined, { signal: grace.signal }).catch(() => {});
  }
  setTimeout(() => process.exit(1), STOP_PATIENCE_MS).unref();
  await started?.close();
  if (started) log?.info({ reason, uptime_seconds: Math.round(process.uptime()) }, 'Parley has stopped.');
  process.exit(exitCode);
}

/** How long calls are still served after SIGTERM. Without other processes there is nowhere for clients to go, so no wait. */
const graceOf = ({ SHUTDOWN_GRACE, REDIS_URL }: Env): number =>
  1000 * (SHUTDOWN_GRACE ?? (REDIS_URL ? GRACE_AMONG_OTHERS : 0));

function fail(error: unknown): never {
  process.stderr.write(
    error instanceof StartError ? `${error.message}\n` : `${(error as Error).stack ?? error}\n`,
  );
  process.exit(1);
}

function welcome({ url, isNew }: App, env: Env): string {
  const lines = [
    '',
    `  Parley is running at ${url}`,
    `  Data: ${env.DATABASE_URL ? 'your database, and ' : ''}${env.DATA_DIR}`,
  ];
  if (isNew) lines.push('  Open it in a browser: the first account becomes the administrator.');
  return [...lines, '', ''].join('\n');
}

/** Loading the program leaves some 30 MB of garbage, which V8 would keep until the first calls. */
function dropStartGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
}

let graceMs = 0;
// Before the first part starts: a signal during the start must not leave a database running.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop(0, signal));
// Orchestrators send SIGTERM. The other signals come from a terminal, where a wait has no use.
process.on('SIGTERM', () => void stop(0, 'SIGTERM', graceMs));

try {
  const env = readEnv();
  graceMs = graceOf(env);
  log = createLog(env.LOG_LEVEL);
  app = startApp({
    env,
    log,
    announce: (line) => process.stdout.write(`  ${line}\n`),
    onFatal(reason) {
      process.stderr.write(`${reason} The server stops.\n`);
      void stop(1, reason);
    },
  });
  const started = await app;
  log.info(
    { version: project.version, node: process.versions.node, url: started.url },
    'Parley has started.',
  );
  if (!stopping) process.stdout.write(welcome(started, env));
  dropStartGarbage();
} catch (error) {
  fail(error);
}
