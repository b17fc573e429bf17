import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../core/json/json.ts';
import { CONFIG_VERSION, DEFAULT_CONFIGURATION } from './settings/configs.defaults.ts';
import type { Configuration } from './settings/configs.schema.ts';
import { SETTINGS, type Tree, valueAt } from './settings/configs.settings.ts';

/*
 * The overrides are the settings that administrators have set: a configuration without the other settings. Only they are stored;
 * every other setting has the default of the running version.
 */

/** Null counts as missing where the default is not null. */
export const lacks = (value: unknown, initial: unknown) =>
  value === undefined || (value === null && initial !== null);
const isAbsent = (value: unknown, _initial: unknown): boolean => value === undefined;

/** The value with the defaults for its missing members. */
export function fillIn(value: unknown, initial: unknown, isMissing = isAbsent): unknown {
  if (isMissing(value, initial)) return structuredClone(initial);
  if (!isObject(value) || !isObject(initial)) return value;
  const filled: Tree = { ...value };
  for (const [name, below] of Object.entries(initial)) {
    filled[name] = fillIn(Object.hasOwn(value, name) ? value[name] : undefined, below, isMissing);
  }
  return filled;
}

/** The whole configuration: the overrides, completed by the defaults. */
export const complete = (overrides: Tree): Configuration => ({
  ...(fillIn(overrides, DEFAULT_CONFIGURATION) as Configuration),
  version: CONFIG_VERSION,
});

/** The overrides with the values of a whole configuration: its members that `named` has too. */
export const pickOverrides = (whole: Tree, named: Tree): Tree => ({
  ...pick(whole, named, DEFAULT_CONFIGURATION),
  version: CONFIG_VERSION,
});

function pick(whole: Tree, named: Tree, initial: Tree): Tree {
  const isNamed = (name: string) =>
    Object.hasOwn(named, name) && !(Object.hasOwn(initial, name) && lacks(named[name], initial[name]));
  const picked = Object.entries(whole).filter(([name]) => isNamed(name));
  return Object.fromEntries(
    picked.flatMap(([name, value]) => {
      const [given, defaults] = [named[name], Object.hasOwn(initial, name) ? initial[name] : undefined];
      const isSection = isObject(defaults) && Object.keys(defaults).length > 0;
      if (!isSection || !isObject(value) || !isObject(given)) return [[name, value]];
      const below = pick(value, given, defaults);
      return Object.keys(below).length > 0 ? [[name, below]] : [];
    }),
  );
}

export const isSet = (overrides: Tree, path: string): boolean => valueAt(overrides, path) !== undefined;

/** When a setting was set, Unix seconds, and by which account. */
export interface Origin {
  at: number;
  by: string | null;
}
/** By the path of the setting. Empty for what was set before origins were stored. */
export type Origins = Record<string, Origin>;

/** A setting that is stored with the same value again keeps its origin. */
export function nextOrigins(origins: Origins, before: Tree, after: Tree, origin: Origin): Origins {
  const set = SETTINGS.filter((path) => isSet(after, path));
  return Object.fromEntries(
    set.flatMap((path) => {
      const isSame = isDeepStrictEqual(valueAt(before, path), valueAt(after, path));
      const kept = isSame ? origins[path] : origin;
      return kept ? [[path, kept]] : [];
    }),
  );
}
