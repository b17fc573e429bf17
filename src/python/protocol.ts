import { z } from 'zod';
import { isObject } from '../core/json/json.ts';

/**
 * Messages between the server and the Python side, over two channels: JSON lines to and from the fork server
 * (`host/server.py`), and one Unix socket for each tool's process with frames of a 4-byte big-endian length
 * and JSON (`host/calls/session.py`). Messages of a tool's process are untrusted: they are checked and bounded.
 * Such a frame is a head (one line of JSON), and after a line feed a payload (JSON of any size). The server
 * never parses a payload that is meant for a client.
 */

const isText = (value: unknown) => typeof value === 'string';

/**
 * Objects and lists of any size are checked by hand: Zod takes microseconds for each member and more for each
 * invalid one, and a tool may send a million.
 */
const objectOf = <Member>(isMember: (value: unknown) => boolean) =>
  z
    .custom<Record<string, Member>>((value) => isObject(value) && Object.values(value).every(isMember))
    .transform((value) => {
      // As Zod's records do: code that copies members would set the prototype.
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
 * `packages`: the folder of packages that the process uses beside those of the environment. `called`: the
 * process got a call, so the count of its processor time starts anew.
 */
export type HostOrder =
  | { op: 'spawn'; number: number; token: string; packages: string | null }
  | { op: 'called'; number: number }
  | { op: 'kill'; number: number };

/** Resources that a call or a process used. */
const Usage = z.object({
  cpu_ms: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  /** The peak memory of the process since its start. */
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
    /** The limit that the tool and all processes it started exceeded, for which they were ended. */
    exceeded: z.enum(['memory', 'processes', 'files', 'bytes', 'room', 'cpu', 'uncounted']).nullable(),
    /** Since the fork, children included that were waited for. */
    usage: Usage,
  }),
  z.object({ kind: z.literal('failed'), number: z.int(), detail: z.string() }),
]);
export type HostReport = z.infer<typeof HostReport>;

/** The first frame of a tool's process. `unsafe`: the process could not give up its rights, and ends. */
export const Greeting = z.discriminatedUnion('kind', [
  /** `clock`: the clock of the process, in seconds; `begin_before` of a call refers to it. */
  z.object({ kind: z.literal('hello'), token: z.string(), clock: z.number() }),
  z.object({ kind: z.literal('unsafe'), token: z.string(), detail: z.string() }),
]);

export interface LoadRequest {
  kind: 'load';
  id: string;
  content: string;
  /** Whether to load the tool although packages are missing. */
  is_lenient: boolean;
  /** Whether the source is to be stored: its imports are then read for implied packages and for warnings. */
  is_new: boolean;
  /** The requirements that the folder of packages was made for; empty without a folder. */
  installed: string[];
}

/** The class of valves of a tool: its own settings, or those of each user. */
export type ValvesKind = 'valves' | 'user_valves';

export interface ToolUser {
  id: string;
  name: string;
  email: string;
  role: string;
}

/** The context of a call, which functions may declare: `__messages__` and so on. */
export interface CallContext {
  messages?: object[] | undefined;
  files?: object[] | undefined;
  metadata?: object | undefined;
  model?: object | undefined;
  chat_id?: string | undefined;
  message_id?: string | undefined;
}

/**
 * Requests to a loaded tool. Each has a number, `call`, and a time, `begin_before`. The process does not
 * begin the request after that time, because the server may have sent it to another process. A process
 * reports that it begins a request, and answers with one `result` or `error`.
 */
export type ToolRequest =
  | {
      kind: 'call';
      function: string;
      arguments: Record<string, unknown>;
      user: ToolUser;
      /** Null: the tool keeps the values of its constructor. */
      valves: object | null;
      user_valves: object | null;
      context: CallContext;
      /** The address of the server, for `__request__`. */
      base_url: string;
      /** The id of the request, for `__request__.headers`. */
      request_id: string;
    }
  /** Converts and checks values; answered with `CheckedValves`. */
  | { kind: 'check'; which: ValvesKind; values: Record<string, unknown> }
  /** The schema of valves with the choices that the tool offers this user. */
  | { kind: 'describe'; which: ValvesKind; user: ToolUser };

export const CheckedValves = z.object({
  values: JsonSchema,
  /** Names that were sent and that the class does not declare. */
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

/**
 * The host shortens these texts as well, but a tool can write to the channel past the host. A character may
 * take two places of a JavaScript string.
 */
const TEXT_PLACES = 2 * 2_000;
const OUTPUT_PLACES = 2 * 8_192;
const MOST_ISSUES = 100;
const MOST_WARNINGS = 1_000;

/** A text for people: a text that is too long is cut, never within a character. */
const sentence = () =>
  z
    .string()
    .transform((text) =>
      (text.length > TEXT_PLACES + 1 ? `${text.slice(0, TEXT_PLACES)}…` : text).toWellFormed(),
    );
const output = () => z.string().transform((text) => text.slice(-OUTPUT_PLACES).toWellFormed());
/** Warnings for the author of a stored tool. */
const warnings = () => z.array(sentence()).max(MOST_WARNINGS);
const Issue = z.object({ path: sentence(), message: sentence() });

/** The payload of `prepared`. */
export const Prepared = z.object({
  content: z.string(),
  manifest: objectOf<string>(isText),
  /** The unmet requirements. When there are any, the load goes on only if it is lenient. */
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
  /**
   * Sent before the first line of a function runs. `cpu_ms`: the CPU time of the process so far. No payload.
   */
  z.object({ kind: z.literal('begun'), call: z.int(), cpu_ms: Usage.shape.cpu_ms }),
  /** The payload is the event. */
  z.object({ kind: z.literal('event'), call: z.int() }),
  z.object({ kind: z.literal('ask'), call: z.int(), ask: z.int() }),
  /**
   * A request of a stand-in of `open_webui` to the server, as the caller of the function; the payload is its
   * input. Also answered by a `Reply`.
   */
  z.object({ kind: z.literal('request'), call: z.int(), ask: z.int(), operation: z.string().max(64) }),
  /** The payload is the result. */
  z.object({ kind: z.literal('result'), call: z.int(), usage: Usage, output: output() }),
  z.object({ kind: z.literal('error'), call: z.int(), usage: Usage }),
]);
export type ToolMessage = z.infer<typeof ToolMessage>;
