import { z } from 'zod';
import { isObject } from '../core/json.ts';

/**
 * Messages between the server and the Python side. Two ways lead there: JSON lines to and from the fork server
 * (`host/server.py`), and one Unix socket for every tool's process with frames of a 4-byte big-endian length
 * and JSON (`host/session.py`). What a tool's process sends is written by strangers: it is checked, and bounded. Its frames are a head,
 * a line of JSON, and behind a line feed a payload, which is JSON of any size; what is not for the server itself is never parsed.
 */

const isText = (value: unknown) => typeof value === 'string';

/**
 * Objects and lists of any size are looked at by hand: Zod takes microseconds for each member, and more for each that is wrong, of
 * which a stranger may send a million.
 */
const objectOf = <Member>(isMember: (value: unknown) => boolean) =>
  z
    .custom<Record<string, Member>>((value) => isObject(value) && Object.values(value).every(isMember))
    .transform((value) => {
      // As Zod's own records do: whoever copies members would set it.
      Reflect.deleteProperty(value, '__proto__');
      return value;
    });
const texts = () => z.custom<string[]>((value) => Array.isArray(value) && value.every(isText));

export const JsonSchema = z.custom<Record<string, unknown>>(isObject);
export type JsonSchema = z.infer<typeof JsonSchema>;

/** A function of a tool as models see it; `parameters` is a JSON schema of type object without references. */
export const FunctionSpec = z.object({
  name: z.string(),
  description: z.string(),
  returns: z.string().optional(),
  parameters: z.object({
    type: z.literal('object'),
    properties: objectOf<JsonSchema>(isObject),
    required: texts().optional(),
  }),
});
export type FunctionSpec = z.infer<typeof FunctionSpec>;

/**
 * `packages`: the folder of a set of packages that the process finds beside those of the environment. `called`: it was given a call,
 * from which its processor time counts anew.
 */
export type HostOrder =
  | { op: 'spawn'; number: number; token: string; packages: string | null }
  | { op: 'called'; number: number }
  | { op: 'kill'; number: number };

/** What a call or a process took. */
const Usage = z.object({
  cpu_ms: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  /** The most that the process has held, from its start on. */
  peak_memory_bytes: z.int().min(0),
});
export type Usage = z.infer<typeof Usage>;

export const HostReport = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('ready'),
    python: z.string(),
    pydantic: z.string(),
    missing: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('ended'),
    number: z.int(),
    code: z.int().nullable(),
    signal: z.string().nullable(),
    /** Which limit of the tool and all that it had started it was ended for. */
    exceeded: z.enum(['memory', 'processes', 'files', 'bytes', 'room', 'cpu', 'uncounted']).nullable(),
    /** Since it was forked, with what it had started and waited for. */
    usage: Usage,
  }),
  z.object({ kind: z.literal('failed'), number: z.int(), detail: z.string() }),
]);
export type HostReport = z.infer<typeof HostReport>;

/** The first frame of a tool's process. `unsafe`: it could not give up its rights, and ends. */
export const Greeting = z.discriminatedUnion('kind', [
  /** `clock`: its own, in seconds, which `begin_before` of a call is told by. */
  z.object({ kind: z.literal('hello'), token: z.string(), clock: z.number() }),
  z.object({ kind: z.literal('unsafe'), token: z.string(), detail: z.string() }),
]);

export interface LoadRequest {
  kind: 'load';
  id: string;
  content: string;
  /** Whether to go on when packages that the tool needs are not there. */
  is_lenient: boolean;
  /** Whether it is to be stored: its imports are read then, for packages that they imply and for warnings. */
  is_new: boolean;
  /** What its folder of packages was made for; empty without one. */
  installed: string[];
}

/** Which class of a tool: its own settings, or those of each of its users. */
export type ValvesKind = 'valves' | 'user_valves';

export interface ToolUser {
  id: string;
  name: string;
  email: string;
  role: string;
}

/** What surrounds a call, as functions may ask for it: `__messages__` and so on. */
export interface CallContext {
  messages?: object[] | undefined;
  files?: object[] | undefined;
  metadata?: object | undefined;
  model?: object | undefined;
  chat_id?: string | undefined;
  message_id?: string | undefined;
}

/**
 * What a loaded tool can be asked. Each goes out with a number, `call`, and a time, `begin_before`, after which it is not begun any
 * more: the server may have taken it elsewhere then. One that begins says so, and answers with one `result` or `error`.
 */
export type ToolRequest =
  | {
      kind: 'call';
      function: string;
      arguments: Record<string, unknown>;
      user: ToolUser;
      /** Null: the tool keeps what its constructor made. */
      valves: object | null;
      user_valves: object | null;
      context: CallContext;
      /** Of the server, for `__request__`. */
      base_url: string;
    }
  /** To convert and check values; answers `CheckedValves`. */
  | { kind: 'check'; which: ValvesKind; values: Record<string, unknown> }
  /** For the schema of valves with the choices that the tool offers this user. */
  | { kind: 'describe'; which: ValvesKind; user: ToolUser };

export const CheckedValves = z.object({
  values: JsonSchema,
  /** Names that were sent but that the class does not know. */
  ignored: texts(),
});
export type CheckedValves = z.infer<typeof CheckedValves>;

/** The answer to an `ask` or a `request`; `error` in words, or null. */
export interface Reply {
  kind: 'reply';
  call: number;
  ask: number;
  answer: unknown;
  error: string | null;
}

const Valves = JsonSchema.nullable();
const MOST_FUNCTIONS = 5_000;
const FunctionSpecs = z
  .custom<FunctionSpec[]>((specs) => Array.isArray(specs) && specs.length <= MOST_FUNCTIONS)
  .pipe(z.array(FunctionSpec));

/** The host cuts these as well, but what a tool writes past it arrives here. A character may take two places. */
const TEXT_PLACES = 2 * 2_000;
const OUTPUT_PLACES = 2 * 8_192;
const MOST_ISSUES = 100;
const MOST_WARNINGS = 1_000;

/** A text for people: a part of one that is too long, and no half of a character. */
const sentence = () =>
  z
    .string()
    .transform((text) =>
      (text.length > TEXT_PLACES + 1 ? `${text.slice(0, TEXT_PLACES)}…` : text).toWellFormed(),
    );
const output = () => z.string().transform((text) => text.slice(-OUTPUT_PLACES).toWellFormed());
/** What the author of a tool should know, though it is stored. */
const warnings = () => z.array(sentence()).max(MOST_WARNINGS);
const Issue = z.object({ path: sentence(), message: sentence() });

/** The payload of `prepared`. */
export const Prepared = z.object({
  content: z.string(),
  manifest: objectOf<string>(isText),
  /** The requirements that are not met. With some, nothing follows unless the load was lenient. */
  missing: texts(),
  warnings: warnings(),
});
export type Prepared = z.infer<typeof Prepared>;

/** The payload of `loaded`. */
export const Loaded = z.object({
  specs: FunctionSpecs,
  warnings: warnings(),
  valves: Valves,
  user_valves: Valves,
});
export type Loaded = z.infer<typeof Loaded>;

/** The payload of `refused`. */
export const Refusal = z.object({ detail: sentence() });

/** The payload of `error`. */
export const CallFailure = z.object({
  code: z.enum(['not_found', 'arguments_invalid', 'valves_invalid', 'tool_raised']),
  detail: sentence(),
  issues: z.preprocess(
    (issues) => (Array.isArray(issues) ? issues.slice(0, MOST_ISSUES) : issues),
    z.array(Issue),
  ),
});

/** The head of a frame. */
export const ToolMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('prepared') }),
  z.object({ kind: z.literal('refused') }),
  z.object({ kind: z.literal('loaded') }),
  /** Said before the first line of a function runs; `cpu_ms`: what the process has taken so far. No payload. */
  z.object({ kind: z.literal('begun'), call: z.int(), cpu_ms: Usage.shape.cpu_ms }),
  /** The payload is the event. */
  z.object({ kind: z.literal('event'), call: z.int() }),
  z.object({ kind: z.literal('ask'), call: z.int(), ask: z.int() }),
  /**
   * What a stand-in of `open_webui` wants of the server, as the caller of the function; the payload is its input. Answered by a `Reply` too.
   */
  z.object({ kind: z.literal('request'), call: z.int(), ask: z.int(), operation: z.string().max(64) }),
  /** The payload is the result. */
  z.object({ kind: z.literal('result'), call: z.int(), usage: Usage, output: output() }),
  z.object({ kind: z.literal('error'), call: z.int(), usage: Usage }),
]);
export type ToolMessage = z.infer<typeof ToolMessage>;

/** What a tool may use. Sizes in bytes, times in milliseconds unless the name says otherwise. */
export interface Limits {
  callTimeoutMs: number;
  loadTimeoutMs: number;
  /** How long a function may wait for an answer of its caller; its own time stands still meanwhile. */
  askTimeoutMs: number;
  idleTimeoutMs: number;
  /** Live processes at most; the longest unused one makes room. */
  processes: number;
  /** What one person may have under way at a time, and beyond it waiting. */
  callsPerPerson: number;
  waitingPerPerson: number;
  /** How long a process may leave a call untouched before another one gets it. */
  beginMs: number;
  /** Private memory of a tool and all that it has started. */
  memoryBytes: number;
  /** Any one file that a tool writes. */
  fileBytes: number;
  /** All files of a tool, and how many. */
  scratchBytes: number;
  scratchFiles: number;
  openFiles: number;
  /** Threads and child processes of one tool. */
  tasksPerTool: number;
  /** CPU time from the latest call on. */
  cpuSeconds: number;
}

export const DEFAULT_LIMITS: Limits = {
  callTimeoutMs: 30_000,
  loadTimeoutMs: 10_000,
  askTimeoutMs: 5 * 60_000,
  idleTimeoutMs: 10 * 60_000,
  processes: 64,
  callsPerPerson: 16,
  waitingPerPerson: 128,
  beginMs: 3_000,
  memoryBytes: 512 * 1024 * 1024,
  fileBytes: 64 * 1024 * 1024,
  scratchBytes: 256 * 1024 * 1024,
  scratchFiles: 10_000,
  openFiles: 256,
  tasksPerTool: 128,
  cpuSeconds: 120,
};

/** The longest frame from a tool: a result of 8 MiB and what surrounds it. A longer one ends the process. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024 + 64 * 1024;
/** All frames of all tools that are longer than 64 KiB and on their way; more wait in their sockets. */
export const MAX_FRAMES_BYTES = 16 * MAX_FRAME_BYTES;
/** What a tool says of itself: what may be stored of it, even when each character is written by its number. */
export const MAX_SAID_BYTES = 1024 * 1024;
/** The arguments of one person's calls that are under way or wait; calls beyond are turned away. */
export const MAX_ARGUMENT_BYTES = 64 * 1024 * 1024;
/** Those of everybody's. */
export const MAX_ARGUMENT_BYTES_OF_ALL = 512 * 1024 * 1024;
/** Calls that a process was sent and has not begun: at most so many, from slow ones to quick ones. More are held back. */
export const FEWEST_UNBEGUN = 16;
export const MOST_UNBEGUN = 512;
export const MAX_UNBEGUN_BYTES = 4 * 1024 * 1024;
/** Bounds of the events of one call, enforced again here because a tool can write to its own channel. */
export const MAX_EVENTS = 1_000;
/** Their size in all; a little more than the host lets a well-behaved tool emit. */
export const MAX_EVENT_BYTES = 2 * 1024 * 1024;
/** How often one call may ask its caller. */
export const MAX_ASKS = 50;
/** How often one call may ask the server. */
export const MAX_REQUESTS = 200;
/** What one process asks of the server is worked on so much at a time. More waits. */
export const MAX_REQUESTS_AT_ONCE = 4;
/** While more of it waits than that, in bytes, nothing further is read. */
export const MAX_REQUESTS_HELD = 16 * 1024 * 1024;
/** Answers that a process leaves unread; more end it. */
export const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
