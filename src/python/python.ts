import type { Log } from './environment.ts';
import type { Limits } from './limits.ts';
import type { Packages } from './packages/packages.ts';
import type { ToolSource } from './places.ts';
import type { CallOptions } from './process/call.ts';
import type {
  CallContext,
  CheckedValves,
  FunctionSpec,
  JsonSchema,
  ToolUser,
  ValvesKind,
} from './protocol.ts';
import type { PythonState } from './supervisor.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly python: Python;
  }
}

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

/** What the requests about valves have in common. */
export interface ValvesRequest {
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
  /** The running interpreter. Waits for a start, but not while the environment is made: throws python_unavailable. */
  interpreter(): Promise<string>;
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
  checkValves(request: ValvesRequest & { values: Record<string, unknown> }): Promise<CheckedValves>;
  /**
   * The schema of a class of valves, with the choices that its methods offer this user. Throws the errors of
   * `call`.
   */
  describeValves(request: ValvesRequest & { user: ToolUser }): Promise<JsonSchema>;
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
