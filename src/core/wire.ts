import { z } from 'zod';

/**
 * The atoms that wire shapes are made of. Each carries its own limits, so that a shape which uses them cannot
 * forget one (`contract.md`, "limits"), and each refuses what PostgreSQL cannot store.
 */

const KIB = 1024;
export const LIMITS = {
  nameCharacters: 256,
  contentBytes: 64 * KIB,
  freeFormBytes: 256 * KIB,
  /** Of a free form that lists show with each of their entries, and events with each change. */
  listedFormBytes: 8 * KIB,
  toolContentBytes: KIB * KIB,
  bodyBytes: 4 * KIB * KIB,
  /** Of a request without credentials. */
  openBodyBytes: 16 * KIB,
  /** Of JSON, at all levels: objects, lists, texts, numbers. */
  jsonValues: 50_000,
  /** Of JSON: members whose name follows the names before it for the first time. */
  jsonShapes: 5_000,
  jsonDepth: 128,
  pageSize: 200,
} as const;

/** PostgreSQL stores neither NUL nor half a surrogate pair; refusing beats storing something else. */
export const isStorable = (value: string) => !value.includes('\0') && value.isWellFormed();
const UNSTORABLE = 'must not contain NUL or broken Unicode';
const storable = z.string().refine(isStorable, UNSTORABLE);

/** A line of text of 1 to `max` characters (256 unless told). */
export const name = (max: number = LIMITS.nameCharacters) => storable.min(1).max(max);

/**
 * Text of at most `max` characters, without white space around it and in one Unicode form. To compose takes time in proportion to
 * the square of a run of marks, hours for a body of nothing else, so what is too long is refused before. What becomes one
 * character has four at most.
 */
const composed = (max: number) =>
  z
    .string()
    .max(4 * max, { abort: true, error: `must have at most ${max} characters` })
    .trim()
    .normalize('NFC')
    .max(max)
    .refine(isStorable, UNSTORABLE);

/** As `name`, in one form: what looks the same is the same. */
export const plainName = (max: number) => composed(max).min(1);

/** What breaks a line, or turns around what stands behind it: a name with one would speak for others. */
export const STRAYING = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu;

/** Text without any of these. Control characters are in numbers, as not every reader of the document knows `\p{Cc}`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it refuses
const ONE_LINE = /^[^\u0000-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]*$/;
const shown = (max: number) => composed(max).regex(ONE_LINE, 'must be one line, in one direction');

/** What people are shown as the name of somebody or something: as `plainName`, and on one line. */
export const shownName = (max: number = LIMITS.nameCharacters) => shown(max).min(1);

/** The same, but may be empty. */
export const shownLabel = (max: number = LIMITS.nameCharacters) => shown(max);

/** Optional short text: as `name`, but may be empty. */
export const label = (max: number = LIMITS.nameCharacters) => storable.max(max);

/** Text of at most `maxBytes` as UTF-8. */
export function text(maxBytes: number) {
  const error = `must be at most ${maxBytes} bytes`;
  // No character takes less than a byte. Said for the document, and for the limit of bodies.
  return storable
    .max(maxBytes, { abort: true, error })
    .refine((value) => Buffer.byteLength(value) <= maxBytes, error);
}

/** The text of a UUID in lower case, as a part of regular expressions. */
export const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/**
 * The id of a row that the service named itself: a UUID of any version, in lower case as the database writes it. An id in
 * upper case finds its row, but is another text wherever text is compared: in grants, rooms and notices.
 */
export const id = () => z.guid('must be a UUID').toLowerCase();

/** The id of a tool, as its user chose it. */
export const toolId = () => storable.min(1).max(LIMITS.nameCharacters);

/** Unix time in whole seconds: users, tools, grants, keys. */
export const seconds = () => z.int();

/**
 * Nanoseconds since the epoch: channels and messages. The values exceed 2^53 and are kept at whole microseconds,
 * which pass through an IEEE double unchanged; Zod's own `int()` refuses them.
 */
export const nanoseconds = () =>
  z.number().refine(Number.isInteger, 'must be a whole number').meta({
    type: 'integer',
    format: 'int64',
    description:
      'Nanoseconds since the epoch, at whole microseconds: beyond 2^53, and yet the same as a double and as a 64-bit integer',
  });

/** The latest time that the database can compare. */
const LATEST = Number.MAX_SAFE_INTEGER * 1000;

/**
 * A time in nanoseconds that a caller names. Later ones stand for the latest: a maximum in the schema could not be enforced, since a
 * double rounds the first number beyond it to the maximum itself.
 */
export const moment = () =>
  nanoseconds()
    .min(0)
    .refine((value) => value <= 2 ** 63, 'must fit into 64 bits')
    .overwrite((value) => Math.min(value, LATEST));

/** Deeper nesting serves nobody, and exhausts the stack of whatever walks it. */
const MAX_DEPTH = 100;

/** Bytes that checks of `storableWithin` allow. */
const maxBytesOf = new WeakMap<object, number>();

/** The most bytes that a value takes as JSON by the checks of its schema; undefined when none of them says. */
export const declaredBytes = (checks: readonly object[]): number | undefined =>
  checks.map((check) => maxBytesOf.get(check)).find((bytes) => bytes !== undefined);

/** Refuses what the database cannot store, and what takes more bytes as JSON. */
export function storableWithin(maxBytes: number) {
  const check = z.superRefine<object>((value, context) => {
    const message = describeUnstorable(value, maxBytes);
    if (message) context.addIssue({ code: 'custom', message });
  });
  maxBytesOf.set(check, maxBytes);
  return check;
}

/** An object whose members the service keeps as they are. */
export const freeForm = (maxBytes: number = LIMITS.freeFormBytes) =>
  z.record(z.string(), z.unknown()).check(storableWithin(maxBytes));

/** The members that a form leaves out, by the definition of its schema. */
const ownMembers = new WeakMap<object, ReadonlySet<string>>();

/** The members that the schema of this definition leaves out of what was sent, as if it did not know them. */
export const leftOut = (definition: object): ReadonlySet<string> | undefined => ownMembers.get(definition);

/** As `freeForm`, but for members of these names: the service writes them itself, so what callers send there is dropped. */
export function freeFormWithout(names: readonly string[]) {
  const own = new Set(names);
  const form = freeForm().overwrite((value) =>
    names.some((name) => Object.hasOwn(value, name))
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !own.has(name)))
      : value,
  );
  ownMembers.set(form._zod.def, own);
  return form;
}

/** What keeps a value from being stored as a free form, in words; undefined when nothing does. */
export const describeUnstorable = (value: object, maxBytes: number): string | undefined =>
  findUnstorable(value, MAX_DEPTH) ?? findTooLarge(value, maxBytes);

const findTooLarge = (value: object, maxBytes: number): string | undefined =>
  Buffer.byteLength(JSON.stringify(value)) > maxBytes
    ? `must be at most ${maxBytes} bytes as JSON`
    : undefined;

function findUnstorable(value: unknown, depthLeft: number): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : UNSTORABLE;
  // JSON knows larger numbers than a double: they would be stored as null.
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : 'must not hold a number beyond 1.8e308';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0) return `must not be nested deeper than ${MAX_DEPTH} levels`;
  for (const [key, member] of Object.entries(value)) {
    const found = isStorable(key) ? findUnstorable(member, depthLeft - 1) : UNSTORABLE;
    if (found) return found;
  }
  return undefined;
}

/** `skip` and `limit` of every list; outside of the bounds is an error, not a silent correction. */
export const page = {
  skip: z.int().min(0).default(0),
  limit: z.int().min(1).max(LIMITS.pageSize).default(50),
};

/** The number of a page, of lists that count in pages. */
export const pageNumber = () => z.int().min(1).default(1);
