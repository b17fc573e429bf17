import type { $ZodChecks, $ZodType, $ZodTypes } from 'zod/v4/core';
import { innerOf } from '../../core/schema/schema.ts';
import { declaredBytes, LIMITS } from '../../core/wire.ts';
import type { Procedure } from './procedures.ts';

/** The most bytes of a character in JSON: `\u0041`. */
const CHARACTER_BYTES = 6;
/** By how much JSON grows when the sender escapes all but ASCII, as Python does. */
const ESCAPED_BYTES = 3;
/** Identifiers, dates and numbers are shorter. */
const SHORT_BYTES = 64;
/** For white space and unknown members. */
const SPARE_BYTES = 16 * 1024;

/**
 * The most bytes that a body of an operation may have: the largest input that its schema accepts, at most 4 MiB. Callers without
 * credentials get less (docs/decisions/bodies.md).
 */
export function bodyLimitOf({ inputs, meta }: Pick<Procedure, 'inputs' | 'meta'>): number {
  if (meta?.bodyBytes !== undefined) return meta.bodyBytes;
  if (meta?.level === 'open') return LIMITS.openBodyBytes;
  const most = inputs.reduce((sum, input) => sum + sizeOf(input), SPARE_BYTES);
  return Math.min(most, LIMITS.bodyBytes);
}

/** The most bytes of JSON that a schema accepts; infinite where it sets no bound. */
function sizeOf(schema: $ZodType, around: readonly $ZodType[] = []): number {
  // A recursive schema holds any number of itself.
  if (around.includes(schema)) return Number.POSITIVE_INFINITY;
  const { def } = (schema as $ZodTypes)._zod;
  const checks = (def.checks ?? []) as $ZodChecks[];
  const of = (inner: $ZodType) => sizeOf(inner, [...around, schema]);
  const declared = declaredBytes(checks);
  if (declared !== undefined) return declared * ESCAPED_BYTES;
  const inner = innerOf(schema);
  if (inner) return of(inner);
  const most = longestOf(checks);
  switch (def.type) {
    case 'number':
    case 'boolean':
    case 'null':
      return SHORT_BYTES;
    case 'string':
      return 'format' in def && SHORT_FORMATS.has(String(def.format))
        ? SHORT_BYTES
        : most * CHARACTER_BYTES + 2;
    case 'enum':
      return longest(Object.values(def.entries));
    case 'literal':
      return longest(def.values);
    case 'array':
      return most * (of(def.element) + 1) + 2;
    case 'object': {
      if (def.catchall && (def.catchall as $ZodTypes)._zod.def.type !== 'never')
        return Number.POSITIVE_INFINITY;
      const members = Object.entries(def.shape).map(([name, member]) => name.length + 4 + of(member));
      return members.reduce((sum, bytes) => sum + bytes, 2);
    }
    case 'union':
      return Math.max(...def.options.map(of));
    case 'intersection':
      return of(def.left) + of(def.right);
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/** The length that checks allow: the largest of several, as white space may be trimmed between them. */
function longestOf(checks: readonly $ZodChecks[]): number {
  const lengths = checks.flatMap(({ _zod: { def } }) => (def.check === 'max_length' ? [def.maximum] : []));
  return lengths.length > 0 ? Math.max(...lengths) : Number.POSITIVE_INFINITY;
}

const SHORT_FORMATS = new Set(['guid', 'uuid', 'date', 'datetime']);

const longest = (values: readonly unknown[]) =>
  Math.max(...values.map((value) => String(value).length * CHARACTER_BYTES + 2));
