import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { describeUnstorable, LIMITS } from '../core/wire.ts';
import type { Log } from './environment.ts';
import { loadTool, type ToolProcess } from './process.ts';
import { DEFAULT_LIMITS, type FunctionSpec, type JsonSchema, type Limits } from './protocol.ts';
import { type PythonState, superviseHost } from './supervisor.ts';

export type { FunctionSpec, JsonSchema, Limits } from './protocol.ts';
export type { PythonState } from './supervisor.ts';

const SWEEP_MS = 5_000;

export interface ToolSource {
  id: string;
  content: string;
}

export interface Inspection {
  /** The source with moved imports replaced: this is what to store and to call. */
  content: string;
  manifest: Record<string, string>;
  /** Alphabetical. */
  specs: FunctionSpec[];
  valves: JsonSchema | null;
  user_valves: JsonSchema | null;
}

export interface ToolCall {
  tool: ToolSource;
  function: string;
  arguments: Record<string, unknown>;
  user: { id: string; name: string; email: string; role: string };
  /** Values for the class Valves; absent: what the tool's constructor made. */
  valves?: object | undefined;
  userValves?: object | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: unknown) => void) | undefined;
}

export interface ToolAnswer {
  result: unknown;
  /** What the function emitted, in order. */
  events: unknown[];
  /** The last 8,192 characters that the function printed. */
  output: string;
  duration_ms: number;
}

export interface Python {
  state(): PythonState;
  /** Resolves once Python is ready or known to be unavailable. */
  settled: Promise<void>;
  /** Loads a source in a fresh process. Throws tool_invalid, python_unavailable. */
  inspect(source: ToolSource, options?: { signal?: AbortSignal | undefined }): Promise<Inspection>;
  /**
   * Runs one function. Throws tool_invalid (it does not load), not_found, arguments_invalid (with issues),
   * tool_raised, tool_timeout, python_unavailable; a `signal` that fires rejects with its reason.
   */
  call(request: ToolCall): Promise<ToolAnswer>;
  /** Forgets the loaded processes of a tool; calls under way may finish. */
  evict(toolId: string): void;
  close(): Promise<void>;
}

export interface PythonOptions {
  dataDir: string;
  /** Where the environment is, or will be made; default `python` in `dataDir`. */
  environmentDir?: string | undefined;
  interpreter?: string | undefined;
  log: Log;
  limits?: Partial<Limits>;
}

/** Returns at once; the environment is made and the host started in the background. */
export function startPython(options: PythonOptions): Python {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const supervisor = superviseHost({
    folder: options.environmentDir ?? join(options.dataDir, 'python'),
    interpreter: options.interpreter,
    limits,
    log: options.log,
  });
  /** Every process that is not gone, the longest unused first, with its key once it takes calls. */
  const live = new Map<ToolProcess, string | undefined>();
  /** Those that take calls, by tool and content. */
  const warm = new Map<string, ToolProcess>();
  /** Those to be, so that two first calls start one process. */
  const launching = new Map<string, Promise<ToolProcess>>();
  const waiting = new Set<() => void>();

  const sweeper = setInterval(() => {
    const now = performance.now();
    for (const one of live.keys()) {
      if (!one.isBusy() && now - one.lastUsedAt > limits.idleTimeoutMs) one.stop();
    }
  }, SWEEP_MS).unref();

  const wake = () => {
    for (const look of waiting) look();
    waiting.clear();
  };

  /** Starts a process. Waits for a place when all are taken; the longest unused one makes room. */
  async function launch(tool: ToolSource): Promise<ToolProcess> {
    const host = await supervisor.host();
    const deadline = AbortSignal.timeout(limits.loadTimeoutMs);
    while (live.size >= limits.processes) {
      if (deadline.aborted) {
        const detail = `All ${limits.processes} processes for tools are busy. Try again in a moment.`;
        throw new AppError('python_unavailable', { detail, retryAfterSeconds: 5 });
      }
      const place = new Promise<void>((resolve) => waiting.add(resolve));
      [...live.keys()].find((one) => !one.isBusy() && !one.isEnding())?.stop();
      await unlessAborted(place, deadline).catch(() => {});
    }
    const process = loadTool(host, tool, limits, {
      onIdle: wake,
      onEnding() {
        const key = live.get(process);
        if (key !== undefined) warm.delete(key);
      },
      onGone() {
        live.delete(process);
        wake();
      },
    });
    live.set(process, undefined);
    return process;
  }

  /** Lets a process take calls for a content. */
  function keep(key: string, process: ToolProcess): void {
    if (process.isEnding()) return;
    if (warm.has(key)) {
      process.retire();
    } else {
      warm.set(key, process);
      live.set(process, key);
    }
  }

  async function find(tool: ToolSource): Promise<ToolProcess> {
    const key = keyOf(tool);
    const found = warm.get(key);
    if (found) {
      // To the end of the order of use.
      live.delete(found);
      live.set(found, key);
      return found;
    }
    let started = launching.get(key);
    if (!started) {
      started = launch(tool).then((process) => {
        keep(key, process);
        return process;
      });
      launching.set(key, started);
      const forget = () => launching.delete(key);
      started.then(forget, forget);
    }
    return started;
  }

  return {
    state: supervisor.state,
    settled: supervisor.settled,
    async inspect(source, { signal } = {}) {
      const process = await unlessAborted(launch(source), signal);
      try {
        const { content, manifest, specs, valves, user_valves } = await unlessAborted(process.loaded, signal);
        // A tool says itself what it offers, and may say anything.
        const problem = describeUnstorable({ manifest, specs, valves, user_valves }, LIMITS.freeFormBytes);
        if (problem) throw new AppError('tool_invalid', { detail: `The specification ${problem}.` });
        keep(keyOf({ id: source.id, content }), process);
        return { content, manifest, specs, valves, user_valves };
      } catch (error) {
        process.stop();
        throw error;
      }
    },
    async call(request) {
      const { tool, signal, onEvent, timeoutMs = limits.callTimeoutMs } = request;
      let process = await unlessAborted(find(tool), signal);
      // It may have ended in the moment between; nothing was asked of it yet.
      if (process.isEnding()) process = await unlessAborted(find(tool), signal);
      const { durationMs, ...answer } = await process.call(
        {
          function: request.function,
          arguments: request.arguments,
          user: request.user,
          valves: request.valves ?? null,
          user_valves: request.userValves ?? null,
        },
        { timeoutMs, signal, onEvent },
      );
      return { ...answer, duration_ms: Math.round(durationMs * 1000) / 1000 };
    },
    evict(toolId) {
      for (const [key, process] of warm) {
        if (!key.startsWith(`${toolId}\n`)) continue;
        warm.delete(key);
        process.retire();
      }
    },
    async close() {
      clearInterval(sweeper);
      await supervisor.close();
    },
  };
}

function keyOf({ id, content }: ToolSource): string {
  return `${id}\n${createHash('sha256').update(content).digest('base64')}`;
}

/** The promise's outcome, or a rejection with the signal's reason, whichever comes first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
