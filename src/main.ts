import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type App, startApp } from './app.ts';
import { signUpLine } from './doors/page/welcome.ts';
import { type Env, readEnv, StartError } from './env.ts';
import { createLog } from './log.ts';

/** How long the parts may take to stop before the process ends anyway. */
const STOP_PATIENCE_MS = 15_000;

let app: Promise<App> | undefined;
let stopping = false;

async function stop(exitCode: number): Promise<void> {
  // A terminal's Ctrl-C arrives twice under `npm start`: from the terminal and from npm.
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.exit(1), STOP_PATIENCE_MS).unref();
  await app?.then((started) => started.close()).catch(() => {});
  process.exit(exitCode);
}

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
  if (isNew) lines.push('  Make the first account, the administrator:', `    ${signUpLine(url)}`);
  return [...lines, '', ''].join('\n');
}

/** Loading the program leaves some 30 MB of garbage, which V8 would keep for as long as nobody calls. */
function dropStartGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
}

// Before the first part starts: a signal in the middle of the start must not leave a database behind.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));

try {
  const env = readEnv();
  const log = createLog(env.LOG_LEVEL);
  app = startApp({
    env,
    log,
    announce: (line) => process.stdout.write(`  ${line}\n`),
    onFatal(reason) {
      process.stderr.write(`${reason} The server stops.\n`);
      void stop(1);
    },
  });
  const started = await app;
  if (!stopping) process.stdout.write(welcome(started, env));
  dropStartGarbage();
} catch (error) {
  fail(error);
}
