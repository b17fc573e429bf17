import { z } from 'zod';
import { describeIssues } from '../core/failure.ts';
import { CONFIG_VERSION, DEFAULT_CONFIGURATION } from './configs.defaults.ts';
import { Configuration } from './configs.schema.ts';
import { isTree, type Tree, valueAt, withValue } from './configs.settings.ts';

/** A stored member that is not as it should be, so that its default is in force. */
export const ConfigurationFault = z
  .object({
    /** Dotted. */
    path: z.string(),
    /** What is wrong with it; the value is not repeated. */
    message: z.string(),
  })
  .meta({ id: 'ConfigurationFault' });
export type ConfigurationFault = z.infer<typeof ConfigurationFault>;

type Path = readonly PropertyKey[];

/** Lists of addresses, beside which keys and settings stand by their places. */
const ADDRESSES = ['base_urls', 'api_base_urls'];

/**
 * A stored object without what no version would store, as when somebody has edited the row. A wrong member has its default, and
 * one of an entry of a list is left out where it may be; else the entry is. Nothing else is lost.
 */
export function mend(stored: Tree): { configuration: Configuration; faults: ConfigurationFault[] } {
  const first = Configuration.safeParse(stored);
  if (first.success) return { configuration: current(first.data), faults: [] };
  const withDefaults = first.error.issues.reduce((tree, { path }) => replaceMember(tree, path), stored);
  const second = Configuration.safeParse(withDefaults);
  const mended = second.success ? withDefaults : removeEntries(withDefaults, second.error.issues);
  const last = Configuration.safeParse(mended);
  return {
    // What is too large as a whole is used as it is.
    configuration: current(last.success ? last.data : (mended as Configuration)),
    faults: firstOfEach(describeIssues(first.error)),
  };
}

const current = (configuration: Configuration) => ({ ...configuration, version: CONFIG_VERSION });

const firstOfEach = (faults: ConfigurationFault[]) =>
  faults.filter(({ path }, i) => faults.findIndex((other) => other.path === path) === i);

/** The tree with the default at a path; in an entry of a list, which has none, without the member. */
function replaceMember(tree: Tree, path: Path): Tree {
  const [list, entry] = split(path);
  if (entry.length === 0) {
    const initial = valueAt(DEFAULT_CONFIGURATION, list);
    return initial === undefined ? (without(tree, path) as Tree) : withValue(tree, list, initial);
  }
  const [index, ...below] = entry as [number, ...PropertyKey[]];
  // A provider without a key has an empty one.
  if (below.length === 0 && !list.endsWith('.api_keys')) return tree;
  return mapList(tree, list, (entries) =>
    entries.map((one, i) => (i === index ? (below.length === 0 ? '' : without(one, below)) : one)),
  );
}

/** The value without a member of the objects in it. */
function without(value: unknown, [name, ...below]: Path): unknown {
  if (!isTree(value) || name === undefined) return value;
  const { [String(name)]: member, ...others } = value;
  return below.length === 0 ? others : { ...value, [String(name)]: without(member, below) };
}

/** The tree without the entries of lists that paths lead to, and without what stands at their places in lists beside them. */
function removeEntries(tree: Tree, issues: readonly { path: Path }[]): Tree {
  const wrong = Map.groupBy(
    issues.map(({ path }) => split(path)).filter(([, entry]) => entry.length > 0),
    ([list]) => list,
  );
  return [...wrong].reduce((whole, [list, paths]) => {
    const gone = new Set(paths.map(([, [index]]) => index));
    const keep = (_entry: unknown, index: number) => !gone.has(index);
    const [, section = '', name = ''] = /^(.*)\.([^.]*)$/.exec(list) ?? [];
    const kept = mapList(whole, list, (entries) => entries.filter(keep));
    if (!ADDRESSES.includes(name)) return kept;
    const beside = mapList(kept, `${section}.api_keys`, (keys) => keys.filter(keep));
    return withValue(
      beside,
      `${section}.api_configs`,
      moved(valueAt(beside, `${section}.api_configs`), gone),
    );
  }, tree);
}

/** Settings by place, or by address, when places have gone. */
function moved(settings: unknown, gone: ReadonlySet<PropertyKey | undefined>): Tree {
  const entries = Object.entries(isTree(settings) ? settings : {}).flatMap(([name, value]) => {
    if (!/^\d+$/.test(name)) return [[name, value] as const];
    const place = Number(name);
    const before = [...gone].filter((index) => Number(index) < place).length;
    return gone.has(place) ? [] : [[`${place - before}`, value] as const];
  });
  return Object.fromEntries(entries);
}

function mapList(tree: Tree, path: string, change: (entries: unknown[]) => unknown[]): Tree {
  const list = valueAt(tree, path);
  return Array.isArray(list) ? withValue(tree, path, change(list)) : tree;
}

/** A path in two: the dotted one of the setting, and what leads on from there into a list. */
function split(path: Path): [setting: string, entry: Path] {
  const at = path.findIndex((name) => typeof name === 'number');
  const end = at === -1 ? path.length : at;
  return [path.slice(0, end).join('.'), path.slice(end)];
}
