import { type $ZodType, safeParse } from 'zod/v4/core';
import { unwrap } from './schema.ts';

/*
 * An optional member that is sent as null counts as not sent. Clients of typed languages send null for what they do not set, so the
 * rule holds for every input at every door; `emptiable` names the members of which null means something else.
 */

const emptiables = new WeakSet<$ZodType>();

/** An optional member that null empties, where a missing one stays. */
export function emptiable<S extends { nullish(): $ZodType }>(schema: S): ReturnType<S['nullish']> {
  const member = schema.nullish();
  emptiables.add(member);
  return member as ReturnType<S['nullish']>;
}

/** The optional members of a schema, and where others are. */
export type Nulls =
  | { kind: 'object'; dropped: readonly string[]; inside: readonly [name: string, nulls: Nulls][] }
  | { kind: 'array'; element: Nulls };

/** Walks a schema once, at start; null when no optional member is in it. */
export function planNulls(schema: $ZodType, around: readonly $ZodType[] = []): Nulls | null {
  // Recursive schemas end where they meet themselves again.
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

/** What several inputs of a procedure, or both sides of an intersection, have together. */
export function join(plans: readonly (Nulls | null)[]): Nulls | null {
  const objects = plans.flatMap((plan) => (plan?.kind === 'object' ? [plan] : []));
  if (objects.length === 0) return null;
  return {
    kind: 'object',
    dropped: objects.flatMap(({ dropped }) => dropped),
    inside: objects.flatMap(({ inside }) => inside),
  };
}

/** Takes the nulls of optional members out of an input, which is changed in place. */
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
