import { AppError } from '../errors.ts';
import { LIMITS } from '../wire.ts';

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const BRACE = 0x7b;

/** Bounds on the content of JSON. */
export interface JsonBounds {
  depth: number;
  /** At all levels: objects, lists, texts, numbers. */
  values: number;
  /** Lists; an object counts as four. Each may have another shape, which is slow to build. */
  lists: number;
}

const OF_CALLERS: JsonBounds = {
  depth: LIMITS.jsonDepth,
  values: LIMITS.jsonValues,
  lists: Number.POSITIVE_INFINITY,
};

/**
 * Refuses JSON text that would occupy the process for much longer than it took to send. A megabyte can hold a
 * million lists, or one list of a million entries, and parsing, checking and walking takes a microsecond for
 * each. This count of the text between strings takes a few nanoseconds a character. The parser decides
 * whether the text is JSON at all.
 *
 * @throws bad_request
 */
export function checkJsonText(text: string, bounds: Partial<JsonBounds> = {}): void {
  checkJsonBounds(text, { ...OF_CALLERS, ...bounds });
  checkShapes(text, LIMITS.jsonShapes);
  if (mayHoldPrototype(text)) refusePrototypes(text);
}

/** The same with other bounds, and without a check of member names. @throws bad_request */
export function checkJsonBounds(text: string, bounds: JsonBounds): void {
  let depth = 0;
  let values = 1;
  let lists = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    // `{` and `[`, `}` and `]` differ in one bit.
    else if ((code | 0x20) === 0x7b) {
      depth += 1;
      values += 1;
      lists += code === BRACE ? 4 : 1;
      if (depth > bounds.depth) throw refusal(`must not be nested deeper than ${bounds.depth} levels`);
      if (lists > bounds.lists)
        throw refusal(`must not hold more than ${bounds.lists} lists, or a quarter as many objects`);
    } else if ((code | 0x20) === 0x7d) depth -= 1;
    else if (code === COMMA) values += 1;
    if (values > bounds.values) throw refusal(`must not hold more than ${bounds.values} values`);
  }
}

/** The shortest member: `"":1,`. */
const MEMBER_CHARACTERS = 5;
/** Random in each process, so that a caller cannot prepare names with equal hashes. */
const [SEED = 0, FACTOR = 0] = crypto.getRandomValues(new Int32Array(2));

/**
 * Counts members whose name follows the names before it for the first time. For each of them the parser
 * interns a name or builds a hidden class, which takes a hundred times as long as a known member: 45,000 of
 * them occupied the process for a second (docs/decisions/bodies.md).
 */
function checkShapes(text: string, most: number): void {
  if (text.length < most * MEMBER_CHARACTERS) return;
  const seen = new Set<number>();
  /** For each enclosing object, a hash of the names so far; null for a list. */
  const around: (number | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isName) {
        const shape = hashOf(text, at + 1, end, around.pop() ?? 0);
        around.push(shape);
        seen.add(shape);
        if (seen.size > most) throw refusal(`must not hold more than ${most} different members`);
      }
      isName = false;
      at = end;
    } else if ((code | 0x20) === 0x7b) {
      isName = code === BRACE;
      around.push(isName ? 0 : null);
    } else if ((code | 0x20) === 0x7d) around.pop();
    else if (code === COMMA) isName = around.at(-1) !== null;
  }
}

/** The hash of a part of a text, combined with the hash before it. */
function hashOf(text: string, start: number, end: number, before: number): number {
  let hash = before ^ SEED;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR | 1);
  return hash ^ (hash >>> 15);
}

/**
 * Reads JSON text of a caller. @throws bad_request for text that `checkJsonText` refuses, and SyntaxError for
 * text that is not JSON
 *
 * @param bounds in place of those of all callers
 */
export function parseJsonText(text: string, bounds?: Partial<JsonBounds>): unknown {
  // Some editors and shells put a byte order mark before their text.
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  checkJsonText(json, bounds);
  return JSON.parse(json);
}

const refusal = (what: string) => new AppError('bad_request', { detail: `The JSON ${what}.` });

/** The index of the closing quote of a string; the last index when the string is not closed. */
function endOfString(text: string, start: number): number {
  let from = start + 1;
  for (;;) {
    const end = text.indexOf('"', from);
    if (end === -1) return text.length;
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
    from = end + 1;
  }
}

const PROTOTYPE = '__proto__';
/** Any letter of the name may be written as an escape sequence. */
const mayHoldPrototype = (text: string) => text.includes(PROTOTYPE) || /\\u00[5-7]/.test(text);

/**
 * A member of that name means the prototype of an object to code that copies members by assignment. No client
 * needs such a member, so it is refused rather than dropped, at any level. Text that is not JSON is left to
 * the parser.
 */
function refusePrototypes(text: string): void {
  try {
    JSON.parse(text, (name, value) => {
      if (name === PROTOTYPE) throw refusal(`must not hold a member named "${PROTOTYPE}"`);
      return value;
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
  }
}
