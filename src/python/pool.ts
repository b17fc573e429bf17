import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { describeUnstorable, LIMITS } from '../core/wire.ts';
import type { Payload } from './channel.ts';
import type { Log } from './environment.ts';
import { openPackages, type Packages } from './packages/packages.ts';
import { openPlaces, type ToolSource } from './places.ts';
import { type CallOptions, encodeOrder, NotBegun } from './process/calls.ts';
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
import { openTurns } from './turns.ts';

export type { Packages, PackagesState } from './packages/packages.ts';
export type { ToolSource } from './places.ts';
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

declare module '../core/scope.ts' {
  interface Parts {
    readonly python: Python;
  }
}

/** How many processes may get a call that none of them begins. */
const ATTEMPTS = 3;

export interface Inspection {
  /** The source with moved imports replaced: this is what to store and to call. */
  content: string;
  manifest: Record<string, string>;
  /** Alphabetical. */
  specs: FunctionSpec[];
  valves: JsonSchema | null;
  user_valves: JsonSchema | null;
  /**
   * The missing packages: those that the source requires or, when these are installed, those that its imports
   * imply.
   */
  missing: string[];
  /** Warnings for the author, in sentences. */
  warnings: string[];
}

export interface InspectOptions {
  /** Stops before the source is run when packages are missing; specs and schemas are empty then. */
  isStrict?: boolean | undefined;
  /** The requirements that the source's folder of packages was made for. */
  installed?: string[] | undefined;
  /** The id of the person that calls; none: the server itself, which has no share to exhaust. */
  person?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface ToolCall extends Partial<CallOptions> {
  tool: ToolSource;
  function: string;
  arguments: Record<string, unknown>;
  user: ToolUser;
  /** Values for the class Valves; none: those of the tool's constructor. */
  valves?: object | undefined;
  userValves?: object | undefined;
  context?: CallContext | undefined;
  /** Address of the server, for `__request__`. */
  baseUrl?: string | undefined;
}

interface Asked {
  tool: ToolSource;
  which: ValvesKind;
  person?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface ToolAnswer {
  /** JSON, never parsed here: it comes from untrusted code and may hold a hundred thousand members. */
  result: string;
  /** What the function emitted, in order, as JSON. */
  events: string[];
  /** The last 8,192 characters that the function printed. */
  output: string;
  duration_ms: number;
}

export interface PythonLoad {
  /** The processes of tools. */
  processes: number;
  /** The bound on `processes`. */
  most: number;
  /** Calls that hold a turn. */
  running: number;
  /** Calls that wait because their caller has too many calls under way. */
  waitingForTurn: number;
  /** Requests that wait for a place for their process. */
  waitingForProcess: number;
}

export interface Python {
  state(): PythonState;
  /** The current load. */
  load(): PythonLoad;
  /** Resolves once Python is ready or known to be unavailable. */
  settled: Promise<void>;
  /** Loads a source in a fresh process. Throws tool_invalid, rate_limited, python_unavailable. */
  inspect(source: ToolSource, options?: InspectOptions): Promise<Inspection>;
  /**
   * Runs one function. Throws tool_invalid (the tool does not load), not_found, arguments_invalid (with
   * issues), tool_raised, tool_timeout, tool_interrupted (a call of another person may have ended the
   * process), rate_limited (this person has too many calls under way), python_unavailable. A `signal` that
   * fires rejects with its reason.
   */
  call(request: ToolCall): Promise<ToolAnswer>;
  /**
   * Values as the tool's class stores them. Throws valves_invalid with issues that quote no value, and the
   * errors of `call`.
   */
  checkValves(request: Asked & { values: Record<string, unknown> }): Promise<CheckedValves>;
  /**
   * The schema of a class of valves, with the choices that its methods offer this user. Throws the errors of
   * `call`.
   */
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
  const turns = openTurns(limits);
  const places = openPlaces(supervisor.host, limits, turns);

  /**
   * Sends one request to a tool. A request that a process did not begin goes to another process; a begun
   * request is never sent twice.
   */
  async function ask(
    tool: ToolSource,
    request: ToolRequest,
    options: CallOptions & { person: string | undefined },
  ) {
    const { person, signal } = options;
    const order = encodeOrder(request);
    const giveBack = await turns.take(person, order.body.length, signal);
    let left = Promise.resolve();
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          // Also runs for a caller that has gone: a process started only for that caller is ended then.
          const asked = places.find(tool, person).then((process) => process.request(order, options));
          left = asked.then(
            (one) => one.left,
            () => {},
          );
          const { answer } = await unlessAborted(asked, signal);
          return await answer;
        } catch (error) {
          const isHarmed = error instanceof NotBegun && error.isHarmed;
          const isInterrupted = error instanceof AppError && error.code === 'tool_interrupted';
          if (isHarmed || isInterrupted) places.setApart(tool, person);
          if (!(error instanceof NotBegun)) throw error;
          if (attempt === ATTEMPTS) throw error.error;
        }
      }
    } finally {
      // An abandoned call may still run, and counts until it ends.
      void left.then(giveBack);
    }
  }

  return {
    state: supervisor.state,
    load() {
      const { processes, waiting: waitingForProcess } = places.load();
      const { running, waiting: waitingForTurn } = turns.load();
      return { processes, most: limits.processes, running, waitingForTurn, waitingForProcess };
    },
    settled: supervisor.settled,
    async inspect(source, { isStrict, installed, person, signal } = {}) {
      const giveBack = await turns.take(person, source.content.length, signal);
      try {
        const launched = places.launch({ ...source, isStrict, installed, isNew: true }, person);
        try {
          const process = await unlessAborted(launched, signal);
          const loaded = await unlessAborted(process.loaded, signal);
          const { content, manifest, missing, warnings, specs, valves, user_valves } = loaded;
          // The tool describes itself, so its description is untrusted.
          const problem = describeUnstorable({ manifest, specs, valves, user_valves }, LIMITS.freeFormBytes);
          if (problem) throw new AppError('tool_invalid', { detail: `The specification ${problem}.` });
          places.keep({ ...source, content }, process);
          return { content, manifest, missing, warnings, specs, valves, user_valves };
        } catch (error) {
          launched.then(
            (process) => process.stop(),
            () => {},
          );
          throw error;
        }
      } finally {
        giveBack();
      }
    },
    async call({ tool, context = {}, baseUrl = '', valves, userValves, ...request }) {
      const { timeoutMs = limits.callTimeoutMs, signal, onEvent, onAsk, onRequest, onUsage } = request;
      const { result, events, output, durationMs } = await ask(
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
        { timeoutMs, person: request.user.id, signal, onEvent, onAsk, onRequest, onUsage },
      );
      return { result: result.text, events, output, duration_ms: Math.round(durationMs * 1000) / 1000 };
    },
    async checkValves({ tool, which, values, person, signal }) {
      const options = { isOfItself: true, timeoutMs: limits.loadTimeoutMs, person, signal };
      const { result } = await ask(tool, { kind: 'check', which, values }, options);
      return requireStorable(CheckedValves.safeParse(read(result)).data, 'The valves of the tool');
    },
    async describeValves({ tool, which, user, signal }) {
      const options = { isOfItself: true, timeoutMs: limits.loadTimeoutMs, person: user.id, signal };
      const { result } = await ask(tool, { kind: 'describe', which, user }, options);
      return requireStorable(JsonSchema.safeParse(read(result)).data, 'The specification of the valves');
    },
    packages,
    evict: places.evict,
    async close() {
      places.close();
      await packages.close();
      await supervisor.close();
    },
  };
}

/** A tool's description of itself, when it has the right form and can be stored. @throws tool_raised */
function requireStorable<T extends object>(said: T | undefined, what: string): T {
  if (!said) throw new AppError('tool_raised', { detail: `${what} did not come in their form.` });
  const problem = describeUnstorable(said, LIMITS.freeFormBytes);
  if (problem) throw new AppError('tool_raised', { detail: `${what} ${problem}.` });
  return said;
}

/** A tool's description of itself; undefined when it is too large to read. */
function read(result: Payload): unknown {
  try {
    return result.parse();
  } catch {
    return undefined;
  }
}

/** The outcome of the promise or a rejection with the reason of the signal, whichever comes first. */
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
