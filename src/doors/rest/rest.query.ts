import { type $ZodType, safeParse } from 'zod/v4/core';
import { type Shape, unwrap } from '../../core/schema/schema.ts';

/** Converts text of a URL to the type that the schema wants. Text that does not fit stays text, and Zod refuses it. */
export type Reader = (raw: string | string[]) => unknown;

/** A reader for each member, made once at start, so that schemas stay strict and no request walks one. */
export function planReaders(shape: Shape): Map<string, Reader> {
  return new Map([...shape].map(([name, schema]) => [name, readerOf(schema)]));
}

/**
 * The same readers, for which an empty text counts as not sent where the member is an optional text that cannot be empty, such as
 * an id. A query has no null, and clients send `around=` for a choice that was not made.
 */
export function leaveOutEmpty(readers: Map<string, Reader>, shape: Shape): Map<string, Reader> {
  const orNothing = (reader: Reader, schema: $ZodType | undefined): Reader => {
    if (!schema || unwrap(schema).type !== 'string') return reader;
    if (!safeParse(schema, undefined).success || safeParse(schema, '').success) return reader;
    return (raw) => (raw === '' ? undefined : reader(raw));
  };
  return new Map([...readers].map(([name, reader]) => [name, orNothing(reader, shape.get(name))]));
}

function readerOf(schema: $ZodType): Reader {
  const def = unwrap(schema);
  switch (def.type) {
    case 'number':
      return scalar(readNumber);
    case 'boolean':
      return scalar(readBoolean);
    case 'array': {
      const element = readerOf(def.element);
      return (raw) => (Array.isArray(raw) ? raw.map(element) : [element(raw)]);
    }
    default:
      return (raw) => raw;
  }
}

/** A repeated scalar stays an array, which Zod refuses: the server does not guess which value is meant. */
const scalar =
  (read: (raw: string) => unknown): Reader =>
  (raw) =>
    typeof raw === 'string' ? read(raw) : raw;

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const readNumber = (raw: string) => (NUMBER.test(raw) ? Number(raw) : raw);

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);
const readBoolean = (raw: string) => BOOLEANS.get(raw.toLowerCase()) ?? raw;
