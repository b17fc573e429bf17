import { z } from 'zod';

/**
 * JSON as PostgreSQL wrote it, on its way to the caller. The REST door sends the text as it is; wherever else it is written,
 * it is read first. Reading, checking and writing a page of messages costs more than the rest of the call together
 * (docs/decisions/json-from-postgresql.md).
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

/** What each output of `jsonList` would be, if it were written here. */
const lists = new WeakMap<object, z.ZodArray>();

/** The list that an output stands for; undefined for any that `jsonList` did not make. */
export const listOf = (output: object | undefined): z.ZodArray | undefined => output && lists.get(output);

/**
 * The output of a procedure that answers with a list of views as PostgreSQL wrote it. The views are not checked on their way
 * out: the statement must name each member that it gives (`json_build_object`, never a whole row), and a test compares what
 * it gives with the schema.
 */
export function jsonList<View extends z.ZodType>(view: View) {
  const list = z.array(view);
  const text = z.any().refine((value) => value instanceof Json);
  // The list stands beside the text for the OpenAPI document, which describes what it meets on its way, and shows it alone.
  const output = z.union([text, list]).meta({
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, jsonSchema.anyOf?.[1]);
      delete jsonSchema.anyOf;
    },
  });
  lists.set(output, list);
  return output as unknown as z.ZodType<z.output<typeof list>, Json<z.output<typeof list>>>;
}
