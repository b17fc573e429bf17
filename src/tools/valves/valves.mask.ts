import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { MASK } from '../../core/secrets/masks.ts';
import type { JsonSchema } from '../../python/pool.ts';
import type { UsedTool } from '../tools.repository.ts';

/** The values for a call of the tool by the caller; none for a class that was never set. */
export interface CallValves {
  valves?: Record<string, unknown> | undefined;
  userValves?: Record<string, unknown> | undefined;
}

/** Shorter texts are words, and shorter numbers are counts, unless their class declares them secret. */
const SHORTEST_TEXT = 6;
const FEWEST_DIGITS = 4;
/** The shortest part of a secret that was cut or decoded. */
const SHORTEST_PART = 4;
/** Masking more secrets would delay the calls of others. */
const MOST_SECRETS = 2_000;

/** Replaces a secret until all are found, so that no secret is searched for in a mask. */
const HOLE = '\uF8FF';

/**
 * The message of a failed tool, with each valve masked: an exception may quote a requested address with its
 * key. A value that its class declares secret is masked at any length, other values when they are long
 * enough; choices that a class lists stay. When values overlap in the text, the end of the shorter one may
 * stay.
 */
export function withoutValves(said: string, tool: UsedTool, { valves, userValves }: CallValves): string {
  const values = [
    ...secretsIn(valves, tool.valves_schema),
    ...secretsIn(userValves, tool.user_valves_schema),
  ];
  if (values.length > MOST_SECRETS)
    return 'The tool failed. Its valves hold so many values that what it said is not shown.';
  const secrets = [...new Set(values.flatMap(writtenAs))].sort((one, other) => other.length - one.length);
  const isCut = said.endsWith('…');
  let text = isCut ? said.slice(0, -1) : said;
  for (const secret of secrets) text = text.replaceAll(secret, HOLE);
  if (isCut) text = `${withoutBeginning(text, secrets)}…`;
  return text.replaceAll(new RegExp(`${HOLE}+`, 'g'), MASK);
}

/** The text without the beginning of a secret at the end, where the text was cut. */
function withoutBeginning(text: string, secrets: readonly string[]): string {
  const cut = secrets.reduce((longest, secret) => Math.max(longest, beginningAtEnd(text, secret)), 0);
  return cut === 0 ? text : text.slice(0, -cut) + HOLE;
}

/**
 * How many characters at the end of the text are the beginning of a secret; 0 when they are too few to tell.
 */
function beginningAtEnd(text: string, secret: string): number {
  for (let length = Math.min(secret.length, text.length); length >= SHORTEST_PART; length -= 1)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}

/**
 * The values with a mask for every text that is not the default of its member. The names in an object may be
 * secrets too, so the mask replaces the whole object.
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

/** The secret values as texts. */
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
  /**
   * Values that the tool, or its class by `Base64Str` and `Json`, decodes from a text: for example a service
   * account with its key.
   */
  const collectRead = (text: string, isDeclared: boolean): void => {
    const decoded = Buffer.from(text, 'base64');
    if (decoded.length >= SHORTEST_PART && isUtf8(decoded)) found.push(decoded.toString());
    if (!/^\s*[[{]/.test(text)) return;
    try {
      collect(JSON.parse(text), isDeclared);
    } catch {
      // The text is not JSON, or is nested deeper than a tool can read.
    }
  };
  for (const [name, value] of Object.entries(values ?? {})) {
    // A name that the schema lacks may be an alias of a field.
    const isOther = declared.size > 0 && !Object.hasOwn(known, name);
    collect(value, isOther || declared.has(name));
  }
  return found;
}

/**
 * The names of members that are declared secret (`SecretStr`, an input of type password), at any level, and
 * all choices.
 */
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

/** The secret as it is, in quotes, and in the encodings that libraries use in addresses. */
function writtenAs(secret: string): string[] {
  if (!/[^\w.-]/.test(secret)) return [secret];
  const quoted = JSON.stringify(secret).slice(1, -1);
  const ascii = quoted.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const coded = encodeURIComponent(secret.toWellFormed());
  // Python percent-encodes these characters too.
  const strict = coded.replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const addresses = [coded, strict].flatMap((way) => [
    way,
    way.replaceAll('%20', '+'),
    way.replaceAll('%2F', '/'),
  ]);
  return [...new Set([secret, quoted, ascii, ...addresses])];
}
