import { z } from 'zod';
import { AppError } from './errors.ts';

/** In characters: a few milliseconds, whatever it holds. */
const MAX_PARSED = 16 * 1024;

/**
 * JSON as PostgreSQL or a tool wrote it, on its way to the caller. The doors send the text as it is; wherever else it is written,
 * it is read first. Reading, checking and writing a page of messages costs more than the rest of the call together
 * (docs/decisions/json-from-postgresql.md), and a result of a tool may be made to take seconds.
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

/** What each output of `jsonText` would be, if it were written here. */
const shapes = new WeakMap<object, z.ZodType>();

/** The list that an output stands for; undefined for any that `jsonList` did not make. */
export const listOf = (output: object | undefined): z.ZodArray | undefined => {
  const shape = output && shapes.get(output);
  return shape instanceof z.ZodArray ? shape : undefined;
};

/** The output of a procedure that answers with JSON text of that shape. The text is not checked on its way out. */
export function jsonText<Shape extends z.ZodType>(shape: Shape) {
  const text = z.any().refine((value) => value instanceof Json);
  // The shape stands beside the text for the OpenAPI document, which describes what it meets on its way, and shows it alone.
  const output = z.union([text, shape]).meta({
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, jsonSchema.anyOf?.[1]);
      delete jsonSchema.anyOf;
    },
  });
  shapes.set(output, shape);
  return output as unknown as z.ZodType<z.output<Shape>, Json<z.output<Shape>>>;
}

/**
 * The output of a procedure that answers with a list of views as PostgreSQL wrote it. The views are not checked on their way
 * out: the statement must name each member that it gives (`json_build_object`, never a whole row), and a test compares what
 * it gives with the schema.
 */
export const jsonList = <View extends z.ZodType>(view: View) => jsonText(z.array(view));
