import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from 'pino';
import project from '../package.json' with { type: 'json' };
import type { App } from './app.doors.ts';
import { startApp } from './app.ts';
import { tellPrimary } from './core/processes/workers.ts';
import { type Env, StartError } from './env.ts';
import { createLog } from './log.ts';
import { fail, graceOf, onStopSignal, SAME_SIGNAL_MS, STOP_PATIENCE_MS, welcome } from './stopping.ts';
import { endWithPrimary } from './workers/ending.ts';

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

/** Loading the program leaves some 30 MB of garbage, which V8 would keep until the first calls. */
function dropStartGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
}

/** Runs the server in this process: alone, or as a worker of a primary. */
export async function serve(env: Env): Promise<void> {
  // Before the first part starts: a signal during the start must not leave a database running.
  onStopSignal((signal, isPatient) => void stop(0, signal, isPatient ? graceOf(env) : 0));
  const { worker } = env;
  if (worker) endWithPrimary(worker);
  try {
    const own = createLog(env.LOG_LEVEL);
    log = worker ? own.child({ worker: worker.number }) : own;
    app = startApp({
      env,
      log,
      announce: (line) => process.stdout.write(`  ${line}\n`),
      onFatal(reason) {
        process.stderr.write(`${reason} The server stops.\n`);
        void stop(1, reason);
      },
    });
    const { url, isNew } = await app;
    log.info({ version: project.version, node: process.versions.node, url }, 'Parley has started.');
    if (worker) tellPrimary({ parley: 'ready', url, isNew });
    else if (!stopping) welcome({ url, isNew }, env);
    dropStartGarbage();
  } catch (error) {
    fail(error, error instanceof StartError);
  }
}
