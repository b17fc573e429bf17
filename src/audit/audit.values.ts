import { isDeepStrictEqual } from 'node:util';
import { MASK, mapSecrets } from '../core/secrets/masks.ts';

/** Maximum size of one side of an entry; for a larger value only its size is stored. */
const MAX_BYTES = 64 * 1024;

/** A value as an entry stores it: JSON without secrets; null for no value. */
export function presentable(value: object | null | undefined): string | null {
  if (!value) return null;
  const json = JSON.stringify(mapSecrets(value, () => MASK));
  const bytes = Buffer.byteLength(json);
  return bytes <= MAX_BYTES ? json : JSON.stringify({ left_out: `${bytes} bytes` });
}

/** The members that differ between two states; undefined when none does. */
export function difference<T extends object>(
  before: T,
  after: T,
): { before: Partial<T>; after: Partial<T> } | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof T)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (changed.length === 0) return undefined;
  const only = (of: T) => Object.fromEntries(changed.map((name) => [name, of[name]])) as Partial<T>;
  return { before: only(before), after: only(after) };
}
