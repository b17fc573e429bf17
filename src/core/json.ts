import { z } from 'zod';
import { AppError } from './errors.ts';

/** A JSON object: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** In characters: a few milliseconds, whatever it holds. */
const MAX_PARSED = 16 * 1024;

/**
 * JSON as a tool wrote it, on its way to the caller. The doors send the text as it is; wherever else it is written, it is read first:
 * a result may be made to take seconds.
 */
export class Json<Value> {
  readonly text: string;
  /** What the text holds. Carries the type only; never set. */
  declare readonly value?: Value;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): Value {
    return JSON.parse(this.text) as Value;
  }
}

/** JSON that a stranger wrote, which may take seconds to parse: it is only ever sent as text. */
export class ForeignJson<Value> extends Json<Value> {
  /** @throws bad_request where a door would have to parse it (a streamed batch of tRPC), and it is long */
  override toJSON(): Value {
    if (this.text.length > MAX_PARSED) {
      const detail = 'This answer is too long for a streamed batch. Send the call by itself.';
      throw new AppError('bad_request', { detail });
    }
    return super.toJSON();
  }
}

/** An output of that shape which is not checked on its way out, but for what it is at all. */
function unchecked<Shape extends z.ZodType>(shape: Shape, isIt: (value: unknown) => boolean) {
  // The shape stands beside it for the OpenAPI document, which describes what it meets on its way, and shows it alone.
  return z.union([z.any().refine(isIt), shape]).meta({
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, jsonSchema.anyOf?.[1]);
      delete jsonSchema.anyOf;
    },
  }) as unknown;
}

/** The output of a procedure that answers with JSON text of that shape. */
export const jsonText = <Shape extends z.ZodType>(shape: Shape) =>
  unchecked(shape, (value) => value instanceof Json) as z.ZodType<z.output<Shape>, Json<z.output<Shape>>>;

/** The list that each output of `uncheckedList` stands for. */
const lists = new WeakMap<object, z.ZodArray>();

/** The list that an output stands for; undefined for any that `uncheckedList` did not make. */
export const listOf = (output: object | undefined): z.ZodArray | undefined => output && lists.get(output);

/**
 * The output of a procedure that answers with a long list of views. To check them would cost more than the rest of the call
 * (docs/decisions/json-is-written-once.md), so what makes them must name each member that it gives, never pass a whole row on, and a
 * test compares what it gives with the schema.
 */
export function uncheckedList<View extends z.ZodType>(view: View) {
  const list = z.array(view);
  const output = unchecked(list, Array.isArray) as z.ZodType<z.output<typeof list>>;
  lists.set(output, list);
  return output;
}
