import type { $ZodObjectDef, $ZodType } from 'zod/v4/core';
import { unwrap } from '../../core/schema/schema.ts';
import { leftOut } from '../../core/wire.ts';

/** How many names the header holds. A caller could fill memory and log with more. */
const MAX_NAMES = 20;
const MAX_NAME_CHARACTERS = 80;
const MAX_HEADER_CHARACTERS = 2000;

/** The members that a schema keeps; null where it keeps all of them or none of it is an object. */
export type Known =
  | { kind: 'object'; members: Map<string, Known | null>; keepsOthers: boolean }
  | { kind: 'record'; dropped: ReadonlySet<string> }
  | { kind: 'array'; element: Known };

type Seen = Map<$ZodType, Known | null>;

/** Walks a schema once, at start. The walk of a recursive schema ends where the schema repeats. */
export function planKnown(schema: $ZodType, seen: Seen = new Map()): Known | null {
  const met = seen.get(schema);
  if (met !== undefined) return met;
  seen.set(schema, null);
  const known = plan(schema, seen);
  seen.set(schema, known);
  return known;
}

function plan(schema: $ZodType, seen: Seen): Known | null {
  const def = unwrap(schema);
  switch (def.type) {
    case 'object':
      return planObject(schema, def, seen);
    case 'array': {
      const element = planKnown(def.element, seen);
      return element && { kind: 'array', element };
    }
    case 'record': {
      const dropped = leftOut(def);
      return dropped ? { kind: 'record', dropped } : null;
    }
    case 'union':
      return join(def.options.filter(hasMembers).map((option) => planKnown(option, seen)));
    case 'intersection':
      return join([planKnown(def.left, seen), planKnown(def.right, seen)]);
    default:
      return null;
  }
}

function planObject(schema: $ZodType, def: $ZodObjectDef, seen: Seen): Known {
  const keepsOthers = def.catchall !== undefined && unwrap(def.catchall).type !== 'never';
  const known: Known = { kind: 'object', members: new Map(), keepsOthers };
  seen.set(schema, known);
  for (const [name, member] of Object.entries(def.shape)) known.members.set(name, planKnown(member, seen));
  return known;
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'null', 'literal', 'enum']);
const hasMembers = (option: $ZodType) => !SCALARS.has(unwrap(option).type);

/** A member that one alternative keeps is not ignored. The inside of a member that several keep is not checked. */
function join(alternatives: (Known | null)[]): Known | null {
  const [first, ...rest] = alternatives;
  if (!first || rest.length === 0) return first ?? null;
  const joined: Known = { kind: 'object', members: new Map(), keepsOthers: false };
  for (const alternative of alternatives) {
    if (alternative?.kind !== 'object') return null;
    joined.keepsOthers ||= alternative.keepsOthers;
    for (const [name, member] of alternative.members) {
      joined.members.set(name, joined.members.has(name) ? null : member);
    }
  }
  return joined;
}

/** The members that a whole input keeps. @param elsewhere members that come from the path, and so are unknown in the body */
export function planKnownInput(inputs: readonly $ZodType[], elsewhere: readonly string[] = []): Known | null {
  if (inputs.length === 0) return { kind: 'object', members: new Map(), keepsOthers: false };
  const known = join(inputs.map((input) => planKnown(input)));
  if (known?.kind !== 'object') return known;
  const members = new Map([...known.members].filter(([name]) => !elsewhere.includes(name)));
  return { ...known, members };
}

/**
 * Names the members of a value that its schema drops, dotted, with `[]` for the items of an array:
 * `meta.nmae`, `access_grants[].permision`. At most twenty; undefined when there is none.
 */
export function findIgnored(known: Known | null, value: unknown, prefix = ''): Set<string> | undefined {
  if (!known || typeof value !== 'object' || value === null) return undefined;
  const found = new Set<string>();
  collect(known, value, prefix, found);
  return found.size > 0 ? found : undefined;
}

function collect(known: Known, value: unknown, path: string, found: Set<string>): void {
  if (known.kind === 'array') {
    if (!Array.isArray(value)) return;
    const itemPath = `${path}[]`;
    for (const item of value) collect(known.element, item, itemPath, found);
    return;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const pathOf = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (known.kind === 'record') {
    for (const name of known.dropped) if (Object.hasOwn(value, name)) found.add(pathOf(name));
    return;
  }
  for (const name of Object.keys(value)) {
    if (found.size >= MAX_NAMES) return;
    const member = known.members.get(name);
    const memberPath = pathOf(name);
    if (member === undefined) {
      if (!known.keepsOthers) found.add(memberPath);
    } else if (member) {
      collect(member, (value as Record<string, unknown>)[name], memberPath, found);
    }
  }
}

/** The names as the value of `X-Ignored-Members`: percent-encoded, since a name may hold any character. */
export function ignoredHeader(names: Iterable<string>): string {
  let header = '';
  for (const name of [...names].slice(0, MAX_NAMES)) {
    const next = header === '' ? encode(name) : `${header}, ${encode(name)}`;
    if (next.length > MAX_HEADER_CHARACTERS) break;
    header = next;
  }
  return header;
}

function encode(name: string): string {
  const short = name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}...` : name;
  // Half a surrogate pair, from the caller or from the cut, has no UTF-8 form.
  return encodeURIComponent(short.toWellFormed()).replaceAll('%5B%5D', '[]');
}
