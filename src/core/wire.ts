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
  toolContentBytes: KIB * KIB,
  bodyBytes: 4 * KIB * KIB,
  pageSize: 200,
} as const;

/** PostgreSQL stores neither NUL nor half a surrogate pair; refusing beats storing something else. */
const isStorable = (value: string) => !value.includes('\0') && value.isWellFormed();
const storable = z.string().refine(isStorable, 'must not contain NUL or broken Unicode');

/** A line of text of 1 to `max` characters (256 unless told). */
export const name = (max: number = LIMITS.nameCharacters) => storable.min(1).max(max);

/** Optional short text: as `name`, but may be empty. */
export const label = (max: number = LIMITS.nameCharacters) => storable.max(max);

/** Text of at most `maxBytes` as UTF-8. */
export const text = (maxBytes: number) =>
  storable.refine((value) => Buffer.byteLength(value) <= maxBytes, `must be at most ${maxBytes} bytes`);

/** The id of a row that the service named itself: a UUID of any version. */
export const id = () => z.guid('must be a UUID');

/** The id of a tool, as its user chose it. */
export const toolId = () => storable.min(1).max(LIMITS.nameCharacters);

/** Unix time in whole seconds: users, tools, grants, keys. */
export const seconds = () => z.int();

/**
 * Nanoseconds since the epoch: channels and messages. The values exceed 2^53 and are kept at whole microseconds,
 * which pass through an IEEE double unchanged; Zod's own `int()` refuses them.
 */
export const nanoseconds = () =>
  z.number().refine(Number.isInteger, 'must be a whole number').meta({ type: 'integer', format: 'int64' });

/** An object whose members the service keeps as they are. */
export const freeForm = (maxBytes: number = LIMITS.freeFormBytes) =>
  z.record(z.string(), z.unknown()).superRefine((value, context) => {
    const json = JSON.stringify(value);
    if (Buffer.byteLength(json) > maxBytes) {
      context.addIssue({ code: 'custom', message: `must be at most ${maxBytes} bytes as JSON` });
    }
    if (!hasOnlyStorableText(value)) {
      context.addIssue({ code: 'custom', message: 'must not contain NUL or broken Unicode' });
    }
  });

function hasOnlyStorableText(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => isStorable(key) && hasOnlyStorableText(member));
}

/** `skip` and `limit` of every list; outside of the bounds is an error, not a silent correction. */
export const page = {
  skip: z.int().min(0).default(0),
  limit: z.int().min(1).max(LIMITS.pageSize).default(50),
};
