import { type $ZodType, safeParse } from 'zod/v4/core';
import { unwrap } from './schema.ts';

/*
 * An optional member that is sent as null counts as not sent. Clients in typed languages send null for unset
 * members, so the rule holds for every input at every door. `emptiable` marks members for which null has
 * another meaning.
 */

const emptiables = new WeakSet<$ZodType>();

/** An optional member that null empties; when it is missing, the stored value stays. */
export function emptiable<S extends { nullish(): $ZodType }>(schema: S): ReturnType<S['nullish']> {
  const member = schema.nullish();
  emptiables.add(member);
  return member as ReturnType<S['nullish']>;
}

/** The optional members of a schema, and the members that contain others. */
export type Nulls =
  | { kind: 'object'; dropped: readonly string[]; inside: readonly [name: string, nulls: Nulls][] }
  | { kind: 'array'; element: Nulls };

/** Walks a schema once, at start; null when it has no optional member. */
export function planNulls(schema: $ZodType, around: readonly $ZodType[] = []): Nulls | null {
  // The walk of a recursive schema ends where the schema repeats.
  if (around.includes(schema)) return null;
  const def = unwrap(schema);
  const of = (inner: $ZodType) => planNulls(inner, [...around, schema]);
  if (def.type === 'array') {
    const element = of(def.element);
    return element && { kind: 'array', element };
  }
  if (def.type === 'intersection') return join([of(def.left), of(def.right)]);
  if (def.type !== 'object') return null;
  const members = Object.entries(def.shape);
  const dropped = members.filter(([, member]) => isOptional(member)).map(([name]) => name);
  const inside = members.flatMap(([name, member]): [string, Nulls][] => {
    const nulls = of(member);
    return nulls ? [[name, nulls]] : [];
  });
  return dropped.length + inside.length > 0 ? { kind: 'object', dropped, inside } : null;
}

const isOptional = (member: $ZodType) => !emptiables.has(member) && safeParse(member, undefined).success;

/** The union of the plans of several inputs of a procedure, or of both sides of an intersection. */
export function join(plans: readonly (Nulls | null)[]): Nulls | null {
  const objects = plans.flatMap((plan) => (plan?.kind === 'object' ? [plan] : []));
  if (objects.length === 0) return null;
  return {
    kind: 'object',
    dropped: objects.flatMap(({ dropped }) => dropped),
    inside: objects.flatMap(({ inside }) => inside),
  };
}

/** Removes the nulls of optional members from an input, in place. */
export function dropNulls(nulls: Nulls, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (nulls.kind === 'array') {
    if (Array.isArray(value)) for (const element of value) dropNulls(nulls.element, element);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const name of nulls.dropped) if (members[name] === null) members[name] = undefined;
  for (const [name, inside] of nulls.inside) dropNulls(inside, members[name]);
  return value;
}
