import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { getCompileCacheDir } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';

const MAIN = join(import.meta.dirname, 'process', `main${extname(import.meta.url)}`);
/** Loading makes garbage in bursts. With the usual size of its young generation, V8 would keep 35 MB more. */
const NODE_FLAGS = ['--max-semi-space-size=2'];

export interface Call {
  method: string;
  path: string;
  body: string;
  signal: AbortSignal;
}

/** One run of the process of the model. The connection to it is a socket without an address, which only the two have. */
export class ModelProcess {
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
  /** Whether it has answered a call, so that it does not fail at its start. */
  hasAnswered = false;
  readonly #child: ChildProcess;
  readonly #session: ClientHttp2Session;

  constructor(weights: string) {
    this.#child = spawn(process.execPath, [...NODE_FLAGS, MAIN, weights], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      // No variables of the server, which may hold secrets.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', ...compileCache() },
      cwd: '/',
      // A session of its own: a terminal's Ctrl-C must not end it before the server's last call.
      detached: true,
    });
    this.ended = untilEnded(this.#child);
    this.#session = connect('http://board', { createConnection: () => this.#child.stdio[3] as Duplex });
    // The streams of the session fail, too, and tell their callers.
    this.#session.on('error', () => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends a request, and resolves with the head of the answer. `onClosed` is called when nothing of the exchange is under way any more. */
  async send({ method, path, body, signal }: Call, onClosed: () => void): Promise<Response> {
    if (this.#session.destroyed) {
      onClosed();
      throw await this.#explain(undefined, signal);
    }
    const stream = this.#session.request({ ':method': method, ':path': path }, { signal });
    stream.once('close', onClosed);
    stream.end(body);
    try {
      const [headers] = await once(stream, 'response');
      this.hasAnswered = true;
      return new Response(ReadableStream.from(this.#read(stream, signal)), {
        status: Number(headers[':status']),
        headers: { 'content-type': String(headers['content-type']) },
      });
    } catch (error) {
      throw await this.#explain(error, signal);
    }
  }

  /** Ends it at once: it has nothing to save. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  async *#read(stream: ClientHttp2Stream, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* stream;
    } catch (error) {
      throw await this.#explain(error, signal);
    }
    // A lost connection looks like an end.
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw await this.#explain(undefined, signal);
  }

  /** Only the end of the process, and the caller, close a connection early. */
  async #explain(cause: unknown, signal: AbortSignal): Promise<unknown> {
    if (signal.aborted) return signal.reason;
    // Its reason is logged where the process is kept.
    await this.ended;
    return new ProcessEnded('The model on board ended unexpectedly.', { cause });
  }
}

/** The process ended during a call. */
export class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded';
}

/** A process that finds the compiled modules starts in half the time. */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir();
  return folder ? { NODE_COMPILE_CACHE: dirname(folder) } : {};
}

function untilEnded(child: ChildProcess): Promise<string> {
  let complaint = '';
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      // The last error; the lines behind it are its stack.
      if (/^\S*Error\b/.test(line) || complaint === '') complaint = line.trim() || complaint;
    });
  }
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => {
      resolve(complaint.replace(/\.$/, '') || `it ended with ${signal ?? code}`);
    });
  });
}
