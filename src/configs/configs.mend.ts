import { z } from 'zod';
import { describeIssues } from '../core/failure.ts';
import { CONFIG_VERSION, DEFAULT_CONFIGURATION } from './settings/configs.defaults.ts';
import { Configuration } from './settings/configs.schema.ts';
import { isTree, type Tree, valueAt, withValue } from './settings/configs.settings.ts';

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
  if (first.success) return { configuration: ofThisVersion(first.data), faults: [] };
  const replaced = replaceMembers(stored, first.error);
  const second = Configuration.safeParse(replaced);
  const mended = second.success ? replaced : removeEntries(replaced, second.error);
  const last = Configuration.safeParse(mended);
  const faults = describeIssues(first.error);
  return {
    // What is too large as a whole is used as it is.
    configuration: ofThisVersion(last.success ? last.data : (mended as Configuration)),
    faults: faults.filter(({ path }, i) => faults.findIndex((other) => other.path === path) === i),
  };
}

const ofThisVersion = (configuration: Configuration) => ({ ...configuration, version: CONFIG_VERSION });

/** The tree with the defaults of wrong members; in an entry of a list, which has none, without them. */
function replaceMembers(tree: Tree, error: z.ZodError): Tree {
  return [...bySetting(error)].reduce((whole, [setting, wrong]) => {
    if (wrong.some((entry) => entry.length === 0)) {
      const initial = valueAt(DEFAULT_CONFIGURATION, setting);
      return initial === undefined
        ? (without(whole, setting.split('.')) as Tree)
        : withValue(whole, setting, initial);
    }
    const byEntry = Map.groupBy(wrong, ([index]) => index);
    return mapList(whole, setting, (entry, index) =>
      (byEntry.get(index) ?? []).reduce<unknown>((mended, [, ...below]) => {
        if (below.length > 0) return without(mended, below);
        // A provider without a key has an empty one; other entries are taken out when all is known that is wrong.
        return setting.endsWith('.api_keys') ? '' : mended;
      }, entry),
    );
  }, tree);
}

/** The value without a member of the objects in it. */
function without(value: unknown, [name, ...below]: Path): unknown {
  if (!isTree(value) || name === undefined) return value;
  const { [String(name)]: member, ...others } = value;
  return below.length === 0 ? others : { ...value, [String(name)]: without(member, below) };
}

const GONE = Symbol('an entry that is taken out');

/** The tree without the entries of lists that are wrong, and without what stands at their places in lists beside them. */
function removeEntries(tree: Tree, error: z.ZodError): Tree {
  return [...bySetting(error)].reduce((whole, [list, wrong]) => {
    const gone = new Set(wrong.map(([index]) => index));
    const unlessGone = (entry: unknown, index: number) => (gone.has(index) ? GONE : entry);
    const kept = mapList(whole, list, unlessGone);
    const [, section = '', name = ''] = /^(.*)\.([^.]*)$/.exec(list) ?? [];
    if (!ADDRESSES.includes(name)) return kept;
    const beside = mapList(kept, `${section}.api_keys`, unlessGone);
    const settings = moved(valueAt(beside, `${section}.api_configs`), gone);
    return withValue(beside, `${section}.api_configs`, settings);
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

/** The tree with each entry of a list changed, or left out. */
function mapList(tree: Tree, path: string, change: (entry: unknown, index: number) => unknown): Tree {
  const list = valueAt(tree, path);
  if (!Array.isArray(list)) return tree;
  return withValue(
    tree,
    path,
    list.map(change).filter((entry) => entry !== GONE),
  );
}

/** The paths of what is wrong, by the dotted ones of the settings: of each the rest, which leads on into a list. */
function bySetting({ issues }: z.ZodError): Map<string, Path[]> {
  const parts = issues.map(({ path }) => {
    const index = path.findIndex((name) => typeof name === 'number');
    const end = index === -1 ? path.length : index;
    return { setting: path.slice(0, end).join('.'), rest: path.slice(end) };
  });
  const grouped = Map.groupBy(parts, ({ setting }) => setting);
  return new Map([...grouped].map(([setting, all]) => [setting, all.map(({ rest }) => rest)]));
}
