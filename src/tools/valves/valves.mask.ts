import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { MASK } from '../../configs/settings/configs.secrets.ts';
import type { JsonSchema } from '../../python/pool.ts';
import type { UsedTool } from '../tools.repository.ts';
import type { CallValves } from './valves.service.ts';

/** Shorter texts are words, and shorter numbers are counts; unless their class says that they are secret. */
const SHORTEST_TEXT = 6;
const FEWEST_DIGITS = 4;
/** Of a secret in the middle of which a text was cut, and of one that was read in another. */
const SHORTEST_PART = 4;
/** To leave out more of them would hold up the calls of others. */
const MOST_SECRETS = 2_000;

/**
 * What a tool said when it failed, without the valves that it had: an exception quotes the address that was asked, key and all.
 * What a class declares secret goes whatever it is, other values when they are long enough; choices that a class lists stay. The
 * protocol bounds the length of the text; the time that it takes never grows by that times the number of values.
 */
export function withoutValves(said: string, tool: UsedTool, { valves, userValves }: CallValves): string {
  const values = [
    ...secretsIn(valves, tool.valves_schema),
    ...secretsIn(userValves, tool.user_valves_schema),
  ];
  if (values.length > MOST_SECRETS)
    return 'The tool failed. Its valves hold so many values that what it said is not shown.';
  const secrets = new Set(values.flatMap(writtenAs));
  if (secrets.size === 0) return said;
  // One more where a secret begins, one less where it ends.
  const steps = new Int32Array(said.length + 1);
  const hide = (start: number, end: number) => {
    steps[start] = (steps[start] ?? 0) + 1;
    steps[end] = (steps[end] ?? 0) - 1;
  };
  hideWhole(said, secrets, hide);
  if (said.endsWith('…')) hideBeginning(said.slice(0, -1), secrets, hide);
  return withMasks(said, steps);
}

/**
 * The values with a mask for every text that is not the default of its member. Of an object the names may be secrets, too, so the
 * mask stands for the whole.
 */
export function withoutTexts(values: Record<string, unknown>, schema: JsonSchema | null) {
  const known = (schema?.properties ?? {}) as Record<string, { default?: unknown } | undefined>;
  const hide = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hide);
    return typeof value === 'string' || (typeof value === 'object' && value !== null) ? MASK : value;
  };
  const shown = Object.entries(values).map(([name, value]) => {
    const isDefault = Object.hasOwn(known, name) && isDeepStrictEqual(known[name]?.default, value);
    return [name, isDefault ? value : hide(value)];
  });
  return Object.fromEntries(shown) as Record<string, unknown>;
}

/** The values that nobody may be told, as texts. */
function secretsIn(values: object | undefined, schema: JsonSchema | null): string[] {
  const { declared, choices } = readSchema(schema ?? {});
  const known = (schema?.properties ?? {}) as object;
  const found: string[] = [];
  const collect = (value: unknown, isDeclared: boolean): void => {
    if (typeof value === 'string' || typeof value === 'number') {
      const text = typeof value === 'number' ? String(Math.abs(value)) : value;
      const isLong = typeof value === 'string' && text.length >= SHORTEST_TEXT;
      const isGuessed = (isLong || text.replace(/\D/g, '').length >= FEWEST_DIGITS) && !choices.has(value);
      if (text !== '' && (isDeclared || isGuessed)) found.push(text);
      if (isLong) collectRead(value, isDeclared);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, part] of Object.entries(value)) collect(part, isDeclared || declared.has(name));
    }
  };
  /** What the tool, or its class by `Base64Str` and `Json`, reads in a text: a service account with its key, say. */
  const collectRead = (text: string, isDeclared: boolean): void => {
    const decoded = Buffer.from(text, 'base64');
    if (decoded.length >= SHORTEST_PART && isUtf8(decoded)) found.push(decoded.toString());
    if (!/^\s*[[{]/.test(text)) return;
    try {
      collect(JSON.parse(text), isDeclared);
    } catch {
      // It is none, or nested deeper than a tool can read.
    }
  };
  for (const [name, value] of Object.entries(values ?? {})) {
    // A name that the schema does not have may be another one of a field that it has.
    const isOther = declared.size > 0 && !Object.hasOwn(known, name);
    collect(value, isOther || declared.has(name));
  }
  return found;
}

/** The names of what is declared secret (`SecretStr`, an input of type password), at any level, and all choices. */
function readSchema(schema: JsonSchema) {
  const declared = new Set<string>();
  const choices = new Set<unknown>();
  const read = (node: unknown, name: string | undefined): void => {
    if (typeof node !== 'object' || node === null) return;
    const { format, input, enum: listed } = node as { format?: unknown; input?: unknown; enum?: unknown };
    const isPassword = format === 'password' || (input as { type?: unknown } | null)?.type === 'password';
    if (isPassword && name !== undefined) declared.add(name);
    if (Array.isArray(listed)) for (const choice of listed) choices.add(choice);
    for (const [key, part] of Object.entries(node)) {
      if (key !== 'properties') read(part, name);
      else for (const [property, itsNode] of Object.entries(part ?? {})) read(itsNode, property);
    }
  };
  read(schema, undefined);
  return { declared, choices };
}

/** As it is, in quotes, and in the ways in which libraries put it into addresses. */
function writtenAs(secret: string): string[] {
  if (!/[^\w.-]/.test(secret)) return [secret];
  const quoted = JSON.stringify(secret).slice(1, -1);
  const ascii = quoted.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const coded = encodeURIComponent(secret.toWellFormed());
  // Python writes these by their numbers too.
  const strict = coded.replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const addresses = [coded, strict].flatMap((way) => [
    way,
    way.replaceAll('%20', '+'),
    way.replaceAll('%2F', '/'),
  ]);
  return [...new Set([secret, quoted, ascii, ...addresses])];
}

type Hide = (start: number, end: number) => void;

/** All ends of the text in their order: those that begin with a secret stand side by side, and are found by halving. */
function hideWhole(said: string, secrets: Iterable<string>, hide: Hide): void {
  const ends = Array.from({ length: said.length }, (_, start) => said.slice(start)).sort();
  for (const secret of secrets) {
    const past = firstWhere(ends, (end) => end.slice(0, secret.length) > secret);
    for (let at = firstWhere(ends, (end) => end >= secret); at < past; at += 1) {
      const start = said.length - (ends[at]?.length ?? 0);
      hide(start, start + secret.length);
    }
  }
}

/** The first of a list in which all that fulfil the condition come last; its length when none does. */
function firstWhere(list: string[], condition: (one: string) => boolean): number {
  let from = 0;
  let to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (condition(list[middle] ?? '')) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** A long text of a tool is cut, and may be so in the middle of a secret. */
function hideBeginning(text: string, secrets: Iterable<string>, hide: Hide): void {
  for (const secret of secrets) {
    for (let length = Math.min(secret.length, text.length); length >= SHORTEST_PART; length -= 1) {
      if (!text.endsWith(secret.slice(0, length))) continue;
      hide(text.length - length, text.length);
      break;
    }
  }
}

/** The text with one mask for each part that is to be hidden. */
function withMasks(text: string, steps: Int32Array): string {
  const parts: string[] = [];
  let hidden = 0;
  let shownFrom = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const before = hidden;
    hidden += steps[at] ?? 0;
    if (before === 0 && hidden > 0) parts.push(text.slice(shownFrom, at), MASK);
    else if (hidden === 0 && before > 0) shownFrom = at;
  }
  return parts.join('') + text.slice(shownFrom);
}
