import { z } from 'zod';

/**
 * The basic types of wire shapes. Each has its own limits, so that a shape which uses it cannot omit one
 * (`contract.md`, "limits"), and each refuses values that PostgreSQL cannot store.
 */

const KIB = 1024;
export const LIMITS = {
  nameCharacters: 256,
  contentBytes: 64 * KIB,
  freeFormBytes: 256 * KIB,
  /** For a free form that is part of every list entry and every change event. */
  listedFormBytes: 8 * KIB,
  toolContentBytes: KIB * KIB,
  bodyBytes: 4 * KIB * KIB,
  /** For a request without credentials. */
  openBodyBytes: 16 * KIB,
  /** For JSON, at all levels: objects, lists, texts, numbers. */
  jsonValues: 50_000,
  /** For JSON: members whose name follows the names before it for the first time. */
  jsonShapes: 5_000,
  jsonDepth: 128,
  pageSize: 200,
} as const;

/** PostgreSQL stores neither NUL nor a lone surrogate; such text is refused rather than changed. */
export const isStorable = (value: string) => !value.includes('\0') && value.isWellFormed();
const UNSTORABLE = 'must not contain NUL or broken Unicode';
const storable = z.string().refine(isStorable, UNSTORABLE);

/** A line of text of 1 to `max` characters (256 unless told). */
export const name = (max: number = LIMITS.nameCharacters) => storable.min(1).max(max);

/**
 * Text of at most `max` characters, trimmed and in one Unicode form. Composing a run of combining marks takes
 * time in proportion to its square, hours for a body of marks only, so too long text is refused first. One
 * composed character has at most four characters before.
 */
const composed = (max: number) =>
  z
    .string()
    .max(4 * max, { abort: true, error: `must have at most ${max} characters` })
    .trim()
    .normalize('NFC')
    .max(max)
    .refine(isStorable, UNSTORABLE);

/** As `name`, in one Unicode form: texts that look the same are equal. */
export const plainName = (max: number) => composed(max).min(1);

/**
 * Characters that break a line, or reverse the text after them: a name with such a character could imitate
 * another.
 */
export const STRAYING = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu;

/**
 * Text without these characters. Control characters are written as numbers, because not every reader of the
 * document knows `\p{Cc}`.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it refuses
const ONE_LINE = /^[^\u0000-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]*$/;
const shown = (max: number) => composed(max).regex(ONE_LINE, 'must be one line, in one direction');

/** A displayed name: as `plainName`, and on one line. */
export const shownName = (max: number = LIMITS.nameCharacters) => shown(max).min(1);

/** The same, but may be empty. */
export const shownLabel = (max: number = LIMITS.nameCharacters) => shown(max);

/** Optional short text: as `name`, but may be empty. */
export const label = (max: number = LIMITS.nameCharacters) => storable.max(max);

/** Text of at most `maxBytes` as UTF-8. */
export function text(maxBytes: number) {
  const error = `must be at most ${maxBytes} bytes`;
  // Each character takes at least a byte. Declared for the document, and for the limit of bodies.
  return storable
    .max(maxBytes, { abort: true, error })
    .refine((value) => Buffer.byteLength(value) <= maxBytes, error);
}

/** The text of a UUID in lower case, for use in regular expressions. */
export const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/**
 * The id of a row that the service created: a UUID of any version, in lower case as the database writes it.
 * An id in upper case would find its row but differ in text comparisons: in grants, rooms and notices.
 */
export const id = () => z.guid('must be a UUID').toLowerCase();

/** The id of a tool, as its owner chose it. */
export const toolId = () => storable.min(1).max(LIMITS.nameCharacters);

/** Unix time in whole seconds: users, tools, grants, keys. */
export const seconds = () => z.int();

/**
 * Nanoseconds since the epoch: channels and messages. The values exceed 2^53 and are multiples of a
 * microsecond, which an IEEE double represents exactly; Zod's own `int()` refuses them.
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
 * A time in nanoseconds from a caller. Later times are reduced to the latest: the schema cannot enforce a
 * maximum, since a double rounds the next larger number to the maximum itself.
 */
export const moment = () =>
  nanoseconds()
    .min(0)
    .refine((value) => value <= 2 ** 63, 'must fit into 64 bits')
    .overwrite((value) => Math.min(value, LATEST));

/** Deeper nesting has no use, and exhausts the stack of code that walks it. */
const MAX_DEPTH = 100;

/** The bytes that checks of `storableWithin` allow. */
const maxBytesOf = new WeakMap<object, number>();

/** The most bytes of a value as JSON, from the checks of its schema; undefined when no check has a bound. */
export const declaredBytes = (checks: readonly object[]): number | undefined =>
  checks.map((check) => maxBytesOf.get(check)).find((bytes) => bytes !== undefined);

/** Refuses values that the database cannot store, and values that take more bytes as JSON. */
export function storableWithin(maxBytes: number) {
  const check = z.superRefine<object>((value, context) => {
    const message = describeUnstorable(value, maxBytes);
    if (message) context.addIssue({ code: 'custom', message });
  });
  maxBytesOf.set(check, maxBytes);
  return check;
}

/** An object whose members the service stores unchanged. */
export const freeForm = (maxBytes: number = LIMITS.freeFormBytes) =>
  z.record(z.string(), z.unknown()).check(storableWithin(maxBytes));

/** The members that a form leaves out, by the definition of its schema. */
const ownMembers = new WeakMap<object, ReadonlySet<string>>();

/** The members of a request that the schema of this definition leaves out, as if they were unknown. */
export const leftOut = (definition: object): ReadonlySet<string> | undefined => ownMembers.get(definition);

/**
 * As `freeForm`, without the members of these names: the service writes them itself, so values from callers
 * are dropped.
 */
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

/** Why a value cannot be stored as a free form, in words; undefined when it can. */
export const describeUnstorable = (value: object, maxBytes: number): string | undefined =>
  findUnstorable(value, MAX_DEPTH) ?? findTooLarge(value, maxBytes);

const findTooLarge = (value: object, maxBytes: number): string | undefined =>
  Buffer.byteLength(JSON.stringify(value)) > maxBytes
    ? `must be at most ${maxBytes} bytes as JSON`
    : undefined;

function findUnstorable(value: unknown, depthLeft: number): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : UNSTORABLE;
  // JSON allows numbers larger than a double: they would be stored as null.
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

/** `skip` and `limit` of every list; a value out of bounds is an error and is not corrected silently. */
export const page = {
  skip: z.int().min(0).default(0),
  limit: z.int().min(1).max(LIMITS.pageSize).default(50),
};

/** The number of a page, for lists that count in pages. */
export const pageNumber = () => z.int().min(1).default(1);

/** An address of a server, in the configuration. */
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
