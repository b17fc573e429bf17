import { AppError } from './errors.ts';
import { LIMITS } from './wire.ts';

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const BRACE = 0x7b;

/** What JSON may hold at most. */
export interface JsonBounds {
  depth: number;
  /** At all levels: objects, lists, texts, numbers. */
  values: number;
  /** Lists, of which an object counts as four: each may be of another shape, and is made as slowly. */
  lists: number;
}

const OF_CALLERS: JsonBounds = {
  depth: LIMITS.jsonDepth,
  values: LIMITS.jsonValues,
  lists: Number.POSITIVE_INFINITY,
};

/**
 * Refuses JSON text that would keep the process busy for much longer than it took to send: a megabyte is a million lists, or one
 * in a million others, and all that parses, checks and walks them afterwards takes a microsecond for each. Counting what is
 * between the strings takes a few nanoseconds a character. Whether the text is JSON at all is for the parser to say.
 *
 * @throws bad_request
 */
export function checkJsonText(text: string): void {
  checkJsonBounds(text, OF_CALLERS);
  checkShapes(text, LIMITS.jsonShapes);
  if (mayHoldPrototype(text)) refusePrototypes(text);
}

/** The same with other bounds, and without a look at the names of members. @throws bad_request */
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
/** Other ones in each process, so that no caller can prepare names that count as one. */
const [SEED = 0, FACTOR = 0] = crypto.getRandomValues(new Int32Array(2));

/**
 * Counts members whose name follows the names before it for the first time. For each of them the parser interns a name or builds a
 * hidden class, which takes a hundred times as long as a member that it knows: 45,000 of them kept the process busy for a second
 * (docs/decisions/bodies.md).
 */
function checkShapes(text: string, most: number): void {
  if (text.length < most * MEMBER_CHARACTERS) return;
  const seen = new Set<number>();
  /** Of the objects and lists around a place: a hash of the names so far; null for a list. */
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

/** Of a part of a text, and of what was before it. */
function hashOf(text: string, start: number, end: number, before: number): number {
  let hash = before ^ SEED;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR | 1);
  return hash ^ (hash >>> 15);
}

/** Reads JSON text of a caller. @throws bad_request for what `checkJsonText` refuses, and SyntaxError for what is no JSON */
export function parseJsonText(text: string): unknown {
  // Some editors and shells put a byte order mark before what they write.
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  checkJsonText(json);
  return JSON.parse(json);
}

const refusal = (what: string) => new AppError('bad_request', { detail: `The JSON ${what}.` });

/** Where the string that begins at a quote ends; the last place when it is not closed. */
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
/** Any letter of the name may be written by its number. */
const mayHoldPrototype = (text: string) => text.includes(PROTOTYPE) || /\\u00[5-7]/.test(text);

/**
 * A member of that name means the prototype of an object to code that copies members by assignment. Nobody needs one, so it is
 * refused rather than dropped, wherever it is; what is no JSON is left to the parser.
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
