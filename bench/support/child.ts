import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/**
 * The server and its database use one core, and the load uses another, so that neither takes time from the
 * other. A browser has several processes that work at once, and gets both.
 */
const CORES = { server: '0', load: '1', browser: '0,1' } as const;
export type Side = keyof typeof CORES;

/** True when processes are pinned: on Linux with `taskset` and two cores or more. */
export const isPinned = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;

/** Moves processes to the core of a side; processes that they start later inherit it. */
export function moveTo(side: Side, pids: number[]): void {
  if (!isPinned) return;
  for (const pid of pids) spawnSync('taskset', ['-a', '-c', '-p', CORES[side], String(pid)]);
}

/** A command line that runs on the core of a side. */
export const onCore = (side: Side, command: string[]): [string, string[]] => {
  const [file = '', ...args] = isPinned ? ['taskset', '-c', CORES[side], ...command] : command;
  return [file, args];
};

export interface Child<First> extends AsyncDisposable {
  pid: number;
  /** The first message of the child, sent when it was ready. */
  first: First;
  /** Sends a task to the child and waits for its answer; one task at a time. */
  ask<Answer>(task: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/**
 * Starts a TypeScript file of this folder as a process. It gets `options` as JSON in its first argument, and
 * communicates over IPC.
 *
 * @param path below `bench/`
 * @param nodeOptions options of Node
 */
export async function startChild<First>(
  path: string,
  side: Side,
  options: unknown,
  nodeOptions: string[] = [],
): Promise<Child<First>> {
  const script = fileURLToPath(new URL(`../${path}`, import.meta.url));
  const [file, args] = onCore(side, [process.execPath, ...nodeOptions, script, JSON.stringify(options)]);
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const first = (await answer(child, path)) as First;
  return {
    pid: child.pid ?? 0,
    first,
    async ask<Answer>(task: unknown) {
      const answered = answer(child, path);
      child.send(task as object);
      return (await answered) as Answer;
    },
    stop: () => end(child),
    [Symbol.asyncDispose]: () => end(child),
  };
}

async function answer(child: ChildProcess, path: string): Promise<unknown> {
  const ended = new AbortController();
  try {
    return await Promise.race([
      once(child, 'message', { signal: ended.signal }).then(([message]) => message),
      once(child, 'exit', { signal: ended.signal }).then(([code]) => {
        throw new Error(`${path} ended with code ${code}.`);
      }),
    ]);
  } finally {
    ended.abort();
  }
}

/** Ends a process and waits for its end. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
