import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../core/json/json.ts';
import { DEFAULT_CONFIGURATION } from './configs.defaults.ts';

export type Tree = Record<string, unknown>;

/** Whether a member has members. An object without members is a value that the administrator fills. */
const isBranch = (value: unknown): value is Tree => isObject(value) && Object.keys(value).length > 0;

/** The dotted paths of all values in a tree, in its order. */
export function pathsOf(tree: Tree, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([name, value]) =>
    isBranch(value) ? pathsOf(value, `${prefix}${name}.`) : [prefix + name],
  );
}

/** The dotted paths of all settings that this service knows. The version of the schema is not a setting. */
export const SETTINGS: readonly string[] = pathsOf(DEFAULT_CONFIGURATION).filter(
  (path) => path !== 'version',
);

/** The value at a dotted path; undefined when something on the way is missing. */
export const valueAt = (tree: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), tree);

/** The tree with a new value at a dotted path. The unchanged parts are shared, not copied. */
export function withValue<T extends object>(tree: T, path: string, value: unknown): T {
  const [name = '', ...rest] = path.split('.');
  const members = tree as Tree;
  if (rest.length === 0) return { ...tree, [name]: value };
  const below = Object.hasOwn(members, name) ? members[name] : undefined;
  return { ...tree, [name]: withValue(isObject(below) ? below : {}, rest.join('.'), value) };
}

/** The tree without the value at a dotted path. The unchanged parts are shared, not copied. */
export function withoutValue<T extends object>(tree: T, path: string): T {
  const [name = '', ...rest] = path.split('.');
  const { [name]: below, ...others } = tree as Tree;
  if (rest.length === 0) return others as T;
  return isObject(below) ? { ...tree, [name]: withoutValue(below, rest.join('.')) } : tree;
}

/** The dotted paths of the values that differ between two trees, in the order of the later tree. */
export function changedPaths(before: unknown, after: unknown, path = ''): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [path];
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...names].flatMap((name) =>
    changedPaths(before[name], after[name], path === '' ? name : `${path}.${name}`),
  );
}
