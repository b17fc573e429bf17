import type { $ZodType, $ZodTypes } from 'zod/v4/core';

/** The schema inside a wrapper that has no form of its own; undefined for other schemas. */
export function innerOf(schema: $ZodType): $ZodType | undefined {
  const { def } = (schema as $ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return def.innerType;
    case 'lazy':
      return def.getter();
    case 'pipe':
      return def.in;
    default:
      return undefined;
  }
}

/** The definition of a schema inside all wrappers that only say whether a value may be missing. */
export function unwrap(schema: $ZodType): $ZodTypes['_zod']['def'] {
  const inner = innerOf(schema);
  return inner ? unwrap(inner) : (schema as $ZodTypes)._zod.def;
}

export type Shape = ReadonlyMap<string, $ZodType>;

/** The members of an object schema; undefined for every other schema. */
function shapeOf(schema: $ZodType): Shape | undefined {
  const def = unwrap(schema);
  if (def.type === 'object') return new Map(Object.entries(def.shape));
  if (def.type === 'intersection') return joinShapes([def.left, def.right]);
  return undefined;
}

/** The members of all these schemas together, as `.input().input()` and intersections accept them. */
export function joinShapes(schemas: readonly $ZodType[]): Shape | undefined {
  const joined = new Map<string, $ZodType>();
  for (const schema of schemas) {
    const shape = shapeOf(schema);
    if (!shape) return undefined;
    for (const [name, member] of shape) joined.set(name, member);
  }
  return joined;
}
