import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { describeUnstorable, LIMITS } from '../core/wire.ts';
import type { Log } from './environment.ts';
import { openPackages, type Packages } from './packages.ts';
import { type CallOptions, loadTool, type ToolProcess } from './process.ts';
import {
  type CallContext,
  CheckedValves,
  DEFAULT_LIMITS,
  type FunctionSpec,
  JsonSchema,
  type Limits,
  type ToolRequest,
  type ToolUser,
  type ValvesKind,
} from './protocol.ts';
import { type PythonState, superviseHost } from './supervisor.ts';

export type { Packages, PackagesState } from './packages.ts';
export type {
  CallContext,
  CheckedValves,
  FunctionSpec,
  JsonSchema,
  Limits,
  Usage,
  ValvesKind,
} from './protocol.ts';
export type { PythonState } from './supervisor.ts';

const SWEEP_MS = 5_000;

export interface ToolSource {
  id: string;
  content: string;
  /** The folder of the packages that it runs with, beside those of the environment. */
  packages?: string | undefined;
}

export interface Inspection {
  /** The source with moved imports replaced: this is what to store and to call. */
  content: string;
  manifest: Record<string, string>;
  /** Alphabetical. */
  specs: FunctionSpec[];
  valves: JsonSchema | null;
  user_valves: JsonSchema | null;
  /** The packages that it asks for and that are not there. */
  missing: string[];
}

export interface InspectOptions {
  /** Stops before the source is run when packages are missing; specs and schemas are empty then. */
  isStrict?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface ToolCall extends Partial<CallOptions> {
  tool: ToolSource;
  function: string;
  arguments: Record<string, unknown>;
  user: ToolUser;
  /** Values for the class Valves; none: what the tool's constructor made. */
  valves?: object | undefined;
  userValves?: object | undefined;
  context?: CallContext | undefined;
  /** Address of the server, for `__request__`. */
  baseUrl?: string | undefined;
}

interface Asked {
  tool: ToolSource;
  which: ValvesKind;
  signal?: AbortSignal | undefined;
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
  inspect(source: ToolSource, options?: InspectOptions): Promise<Inspection>;
  /**
   * Runs one function. Throws tool_invalid (it does not load), not_found, arguments_invalid (with issues),
   * tool_raised, tool_timeout, python_unavailable; a `signal` that fires rejects with its reason.
   */
  call(request: ToolCall): Promise<ToolAnswer>;
  /** Values as the tool's class keeps them. Throws valves_invalid with issues that quote no value, and as `call` does. */
  checkValves(request: Asked & { values: Record<string, unknown> }): Promise<CheckedValves>;
  /** The schema of a class of valves, with the choices that its methods offer this user. Throws as `call` does. */
  describeValves(request: Asked & { user: ToolUser }): Promise<JsonSchema>;
  /** The packages of tools on this machine. */
  packages: Packages;
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
  const packages = openPackages({
    folder: join(options.dataDir, 'python-packages'),
    base: supervisor.base,
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
  async function launch(tool: ToolSource & { isStrict?: boolean | undefined }): Promise<ToolProcess> {
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

  async function ask(tool: ToolSource, request: ToolRequest, options: CallOptions) {
    let process = await unlessAborted(find(tool), options.signal);
    // It may have ended in the moment between; nothing was asked of it yet.
    if (process.isEnding()) process = await unlessAborted(find(tool), options.signal);
    return process.request(request, options);
  }

  return {
    state: supervisor.state,
    settled: supervisor.settled,
    async inspect(source, { isStrict, signal } = {}) {
      const process = await unlessAborted(launch({ ...source, isStrict }), signal);
      try {
        const { content, manifest, missing, specs, valves, user_valves } = await unlessAborted(
          process.loaded,
          signal,
        );
        // A tool says itself what it offers, and may say anything.
        const problem = describeUnstorable({ manifest, specs, valves, user_valves }, LIMITS.freeFormBytes);
        if (problem) throw new AppError('tool_invalid', { detail: `The specification ${problem}.` });
        keep(keyOf({ ...source, content }), process);
        return { content, manifest, missing, specs, valves, user_valves };
      } catch (error) {
        process.stop();
        throw error;
      }
    },
    async call({ tool, context = {}, baseUrl = '', valves, userValves, ...request }) {
      const { timeoutMs = limits.callTimeoutMs, signal, onEvent, onAsk, onRequest, onUsage } = request;
      const { durationMs, ...answer } = await ask(
        tool,
        {
          kind: 'call',
          function: request.function,
          arguments: request.arguments,
          user: request.user,
          valves: valves ?? null,
          user_valves: userValves ?? null,
          context,
          base_url: baseUrl,
        },
        { timeoutMs, signal, onEvent, onAsk, onRequest, onUsage },
      );
      return { ...answer, duration_ms: Math.round(durationMs * 1000) / 1000 };
    },
    async checkValves({ tool, which, values, signal }) {
      const options = { timeoutMs: limits.loadTimeoutMs, signal };
      const { result } = await ask(tool, { kind: 'check', which, values }, options);
      return requireStorable(CheckedValves.safeParse(result).data, 'The valves of the tool');
    },
    async describeValves({ tool, which, user, signal }) {
      const options = { timeoutMs: limits.loadTimeoutMs, signal };
      const { result } = await ask(tool, { kind: 'describe', which, user }, options);
      return requireStorable(JsonSchema.safeParse(result).data, 'The specification of the valves');
    },
    packages,
    evict(toolId) {
      for (const [key, process] of warm) {
        if (!key.startsWith(`${toolId}\n`)) continue;
        warm.delete(key);
        process.retire();
      }
    },
    async close() {
      clearInterval(sweeper);
      await packages.close();
      await supervisor.close();
    },
  };
}

/** What a tool says of itself, when it has that form and can be stored. @throws tool_raised */
function requireStorable<T extends object>(said: T | undefined, what: string): T {
  if (!said) throw new AppError('tool_raised', { detail: `${what} did not come in their form.` });
  const problem = describeUnstorable(said, LIMITS.freeFormBytes);
  if (problem) throw new AppError('tool_raised', { detail: `${what} ${problem}.` });
  return said;
}

function keyOf({ id, content, packages = '' }: ToolSource): string {
  return `${id}\n${createHash('sha256').update(content).digest('base64')}\n${packages}`;
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
