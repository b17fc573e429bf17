import { z } from 'zod';
import { AppError } from '../errors.ts';

/** A JSON object: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** In characters: parsing takes a few milliseconds for any content. */
const MAX_PARSED = 16 * 1024;

/** JSON text on its way to the caller. The doors send the text unchanged; elsewhere it is parsed before it is written again. */
export class Json<Value> {
  readonly text: string;
  /** The same for the same text, as a header of HTTP. */
  readonly etag: string | undefined;
  /** The parsed type. Carries the type only; never set. */
  declare readonly value?: Value;

  constructor(text: string, etag?: string) {
    this.text = text;
    this.etag = etag;
  }

  toJSON(): Value {
    return JSON.parse(this.text) as Value;
  }
}

/** Untrusted JSON, which may take seconds to parse: it is only ever sent as text. */
export class ForeignJson<Value> extends Json<Value> {
  /** @throws bad_request when a door would have to parse long text (a streamed batch of tRPC) */
  override toJSON(): Value {
    if (this.text.length > MAX_PARSED) {
      const detail = 'This answer is too long for a streamed batch. Send the call by itself.';
      throw new AppError('bad_request', { detail });
    }
    return super.toJSON();
  }
}

/** An output of that shape that is not checked, except for its kind. */
function unchecked<Shape extends z.ZodType>(shape: Shape, isIt: (value: unknown) => boolean) {
  // The shape is in the union for the OpenAPI document; the override shows the shape alone.
  return z.union([z.any().refine(isIt), shape]).meta({
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, jsonSchema.anyOf?.[1]);
      delete jsonSchema.anyOf;
    },
  }) as unknown;
}

/** The output of a procedure that returns JSON text of that shape. */
export const jsonText = <Shape extends z.ZodType>(shape: Shape) =>
  unchecked(shape, (value) => value instanceof Json) as z.ZodType<z.output<Shape>, Json<z.output<Shape>>>;

type List<View extends z.ZodType> = z.output<z.ZodArray<View>>;

/** The list schema of each output of `uncheckedList`. */
const lists = new WeakMap<object, z.ZodArray>();

/** The list schema of an output; undefined unless `uncheckedList` made the output. */
export const listOf = (output: object | undefined): z.ZodArray | undefined => output && lists.get(output);

/**
 * The output of a procedure that returns a long list of views, or its text. A check would cost more than the rest of the
 * call (docs/decisions/json-is-written-once.md). The code that builds the views must therefore name each
 * member and never pass a whole row on; a test compares its output with the schema.
 */
export function uncheckedList<View extends z.ZodType>(view: View) {
  const list = z.array(view);
  const isList = (value: unknown) => Array.isArray(value) || value instanceof Json;
  const output = unchecked(list, isList) as z.ZodType<z.output<typeof list>, List<View> | Json<List<View>>>;
  lists.set(output, list);
  return output;
}
