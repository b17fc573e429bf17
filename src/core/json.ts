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

/**
 * The output of a procedure that answers with a list of views as PostgreSQL wrote it. The views are not checked on their way
 * out: the statement must name each member that it gives (`json_build_object`, never a whole row), and a test compares what
 * it gives with the schema.
 *
 * @param view has a name of its own in the OpenAPI document
 */
export function jsonList<View extends z.ZodType>(view: View) {
  const name = view.meta()?.id;
  if (!name) throw new Error('A view needs an id.');
  const items = { $ref: `#/components/schemas/${name}` };
  type Views = z.output<View>[];
  return z
    .custom<Json<Views>>((value) => value instanceof Json)
    .meta({ override: { type: 'array', items } }) as unknown as z.ZodType<Views, Json<Views>>;
}
