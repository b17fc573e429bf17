import { type ChildProcess, fork } from 'node:child_process';
import { extname, join } from 'node:path';

export interface Wanted {
  bytes: Uint8Array;
  /** The most pixels of the long side. */
  side: number;
}

export interface Scaled {
  /** `image/jpeg` or `image/png`. */
  type: string;
  bytes: Uint8Array;
}

const PROCESS = join(import.meta.dirname, `scaling.process${extname(import.meta.url)}`);
/** A picture of the most pixels takes about a second on a free processor. */
const LIMIT_MS = 10_000;
const IDLE_MS = 60_000;

/** Reads pictures of people, so it has a process of its own: it gets no variables of the server, and ends when it is idle. */
let child: ChildProcess | undefined;
let idle: NodeJS.Timeout | undefined;
/** The picture before; pictures are scaled one after the other. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Scales a picture (JPEG, PNG, WebP, GIF) so that its long side has at most `side` pixels, in another process. One picture at a time,
 * so that only one is in memory before it is small.
 *
 * @returns null for a picture that cannot be read, is too large to unpack, or takes too long
 */
export function scalePicture(
  read: () => Uint8Array | Promise<Uint8Array>,
  side: number,
): Promise<Scaled | null> {
  const scaled = last.then(async () => askProcess({ bytes: await read(), side }));
  last = scaled.catch(() => {});
  return scaled;
}

async function askProcess(wanted: Wanted): Promise<Scaled | null> {
  clearTimeout(idle);
  child ??= start();
  const asked = child;
  const { promise, resolve } = Promise.withResolvers<Scaled | null>();
  const answer = (scaled: unknown) => resolve(scaled as Scaled | null);
  const fail = () => resolve(null);
  const limit = setTimeout(() => {
    end(asked);
    fail();
  }, LIMIT_MS);
  asked.once('message', answer).once('exit', fail);
  asked.send(wanted, (error) => error && fail());
  const scaled = await promise;
  clearTimeout(limit);
  asked.off('message', answer).off('exit', fail);
  idle = setTimeout(() => end(asked), IDLE_MS).unref();
  return scaled;
}

function start(): ChildProcess {
  const started = fork(PROCESS, {
    env: {},
    cwd: '/',
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // Does not keep the server running; ends with it.
  started.unref();
  started.channel?.unref();
  const forget = () => end(started);
  return started.once('exit', forget).once('error', forget);
}

function end(ended: ChildProcess): void {
  if (child === ended) child = undefined;
  ended.kill('SIGKILL');
}
