import { isObject } from '../json/json.ts';

type Tree = Record<string, unknown>;

/** Replaces a secret wherever it is not shown. In a request it means: keep the stored value. */
export const MASK = '********';

/**
 * The last word of a member's name that marks its text as a secret: `api_key`, `client_secret`,
 * `app_password`.
 */
const SECRET_WORDS = new Set([
  ...['key', 'keys', 'apikey', 'apikeys', 'secret', 'secrets', 'password', 'passwords', 'passwd'],
  ...['token', 'tokens', 'credential', 'credentials', 'authorization', 'cookie', 'sk', 'pwd', 'passphrase'],
]);

function isSecretName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return SECRET_WORDS.has(words.split(/[^a-z0-9]+/).at(-1) ?? '');
}

interface Place {
  /** The path of the secret, for people. */
  path: string;
  /** The owner of the secret: as the path, but entries of lists are named by their own address or id. */
  owner: string;
}

/** Members of which every text is secret, whatever its name. */
const SECRET_OBJECTS = new Set(['headers', 'credentials', 'secrets']);

/**
 * The name of an object such as `auth.api_key` does not make it a secret: its members have names of their
 * own.
 */
const hidesBelow = (name: string, member: unknown) =>
  SECRET_OBJECTS.has(name) || (isSecretName(name) && !isObject(member));

/**
 * A copy of the tree with every secret replaced. Secrets are the texts whose member has a secret's name, and
 * all texts under `headers`. Empty texts stay, so that a caller sees which ones are not set.
 */
export function mapSecrets<T>(tree: T, replace: (secret: string, place: Place) => string): T {
  return visit(tree, { path: '', owner: '' }, false, replace) as T;
}

function visit(
  value: unknown,
  place: Place,
  isSecret: boolean,
  replace: (secret: string, place: Place) => string,
  names: Names = [],
): unknown {
  if (typeof value === 'string') return isSecret && value !== '' ? replace(value, place) : value;
  if (Array.isArray(value)) {
    const named = names.length > 0 ? names : nameEntries(value);
    return value.map((entry, i) => visit(entry, step(place, `${i}`, named[i]), isSecret, replace));
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]) => {
    const below = step(place, name, /^\d+$/.test(name) ? names[Number(name)] : undefined);
    const hidden = isSecret || hidesBelow(name, member);
    return [name, visit(member, below, hidden, replace, namesBeside(value, name))];
  });
  return Object.fromEntries(entries);
}

/** Names of entries instead of their numbers, so that a moved entry is recognised. */
type Names = readonly (string | undefined)[];

/**
 * Keys and settings of providers are in lists beside their addresses, or are named by the position of the
 * address.
 */
function namesBeside(holder: Tree, name: string): Names {
  const addresses = holder.api_base_urls ?? holder.base_urls;
  if (!Array.isArray(addresses) || (name !== 'api_keys' && name !== 'api_configs')) return [];
  return distinct(addresses.map((address) => (typeof address === 'string' ? address : undefined)));
}

const step = ({ path, owner }: Place, name: string, named = name): Place => ({
  path: path === '' ? name : `${path}.${name}`,
  owner: `${owner}\n${named}`,
});

/** Entries of a list by their id or address; repeated names are made distinct. */
function nameEntries(list: unknown[]): Names {
  return distinct(
    list.map((entry) => {
      if (!isObject(entry)) return undefined;
      const named = [entry.id, entry.url].filter((part) => typeof part === 'string' && part !== '');
      return named.length > 0 ? named.join(' ') : undefined;
    }),
  );
}

function distinct(names: Names): Names {
  const seen = new Map<string, number>();
  return names.map((name) => {
    if (name === undefined) return undefined;
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return `${name}\t${nth}`;
  });
}
