import { isObject } from '../core/json/json.ts';
import { type Tree, valueAt, withValue } from './settings/configs.settings.ts';

/** A list whose objects are changed. Other entries stay as they are: the schema refuses them. */
function mapEntries(tree: Tree, path: string, change: (entry: Tree) => Tree): Tree {
  const list = valueAt(tree, path);
  if (!Array.isArray(list)) return tree;
  return withValue(
    tree,
    path,
    list.map((entry) => (isObject(entry) ? change(entry) : entry)),
  );
}

function withoutNull(entry: Tree, name: string): Tree {
  const { [name]: value, ...others } = entry;
  return value === null ? others : entry;
}

/** Headers that a person typed into a field are stored as the JSON text of an object. */
function readHeaders(entry: Tree): Tree {
  if (typeof entry.headers !== 'string') return entry;
  try {
    return { ...entry, headers: entry.headers.trim() === '' ? null : JSON.parse(entry.headers) };
  } catch {
    return entry;
  }
}

/**
 * Comparable systems write version 0, and some members in another form: a count as a number, null for a missing title, headers as
 * text.
 */
function fromOthers(tree: Tree): Tree {
  const count = valueAt(tree, 'folders.max_file_count');
  const counted = typeof count === 'number' ? withValue(tree, 'folders.max_file_count', String(count)) : tree;
  const titled = mapEntries(counted, 'ui.banners', (banner) => withoutNull(banner, 'title'));
  return mapEntries(titled, 'tool_server.connections', readHeaders);
}

/** The step from each version to the next one. */
const UPGRADES: Record<number, (tree: Tree) => Tree> = { 0: fromOthers };

/** The object in the form of the newest version. */
export function upgrade(tree: Tree): Tree {
  const version = tree.version as number;
  // The schema refuses anything that is not the number of a version.
  return Object.keys(UPGRADES)
    .map(Number)
    .filter((from) => from >= version)
    .reduce((older, from) => UPGRADES[from]?.(older) ?? older, tree);
}
