import { isObject } from '../core/json/json.ts';
import { OTHER_NAMES } from './configs.accept.ts';
import { KEPT } from './configs.kept.ts';
import { DEFAULT_CONFIGURATION } from './settings/configs.defaults.ts';
import type { Configuration } from './settings/configs.schema.ts';
import {
  pathsOf,
  SETTINGS,
  type Tree,
  valueAt,
  withoutValue,
  withValue,
} from './settings/configs.settings.ts';

/*
 * The flat form: an object of dotted names, as newer versions of comparable systems export their configuration.
 */

/** Settings that have another name in the flat form. */
const RENAMED: Readonly<Record<string, string>> = { 'ui.enable_login_form': 'ui.ENABLE_LOGIN_FORM' };

const sectionOf = (path: string) => path.split('.', 1)[0] ?? '';

/** The path of the setting that a dotted name of the flat form names. */
function toOwn(name: string): string {
  const section = sectionOf(name);
  const own = Object.hasOwn(OTHER_NAMES, section)
    ? OTHER_NAMES[section as keyof typeof OTHER_NAMES]
    : section;
  return RENAMED[name] ?? own + name.slice(section.length);
}

const isSection = (name: string) =>
  Object.hasOwn(OTHER_NAMES, name) || isObject((DEFAULT_CONFIGURATION as Tree)[name]);

/** Whether an object has the flat form: some dotted names, and no section. */
export const isFlat = (sent: Tree): boolean =>
  Object.keys(sent).some((name) => name.includes('.')) &&
  !Object.entries(sent).some(([name, value]) => isSection(name) && isObject(value));

/** The value of a setting in a new installation; null for an unknown setting. */
export const defaultOf = (path: string): unknown =>
  valueAt(DEFAULT_CONFIGURATION, path) ?? KEPT[path]?.initial ?? null;

/** The sent value in the form of the setting: null becomes the default, and a number becomes a text where the setting is a text. */
export function settingOf(path: string, sent: unknown): unknown {
  const initial = defaultOf(path);
  if (sent === null) return initial;
  return typeof sent === 'number' && typeof initial === 'string' ? String(sent) : sent;
}

/**
 * The overrides with one more. Null resets a setting to its default, unless that is null.
 *
 * @param path dotted
 */
export function setOverride(overrides: Tree, path: string, value: unknown): Tree {
  const initial = valueAt(DEFAULT_CONFIGURATION, path) ?? null;
  if (value === null && initial !== null) return withoutValue(overrides, path);
  return withValue(overrides, path, settingOf(path, value));
}

/** The overrides, changed by the settings of a flat object. Settings that it does not name stay. */
export function mergeFlat(overrides: Tree, flat: Tree): Tree {
  const { version: _, ...settings } = flat;
  return Object.entries(settings).reduce(
    (tree, [name, value]) => setOverride(tree, toOwn(name), value),
    overrides,
  );
}

/** Settings whose value stays an object in the flat form. */
const WHOLE = ['user.permissions'];
const isBelow = (path: string, other: string) => path === other || path.startsWith(`${other}.`);

/** The settings below a dotted prefix, in the flat form. The prefix may use either name of a section. */
export function namespaceOf(configuration: Configuration, namespace: string): Tree {
  const known = [...SETTINGS.filter((path) => !WHOLE.some((whole) => isBelow(path, whole))), ...WHOLE];
  const others = pathsOf(configuration).filter((path) => !known.some((one) => isBelow(path, one)));
  const own = toOwn(`${namespace}.`);
  return Object.fromEntries(
    [...known, ...others]
      .filter((path) => path.startsWith(own))
      .map((path) => [`${namespace}.${path.slice(own.length)}`, valueAt(configuration, path)]),
  );
}
