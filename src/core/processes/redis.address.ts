/** The address of a Redis or Valkey in one of its forms. */
export type RedisAddress = {
  username?: string;
  password?: string;
  tls: boolean;
} & (
  | { kind: 'server'; url: string }
  | { kind: 'cluster'; nodes: RedisNode[] }
  | { kind: 'sentinel'; nodes: RedisNode[]; name: string; db: number; sentinelPassword?: string }
);

export interface RedisNode {
  host: string;
  port: number;
}

const PORTS = { cluster: 6379, sentinel: 26379 };
const SEVERAL =
  /^(?<scheme>rediss?)\+(?<kind>cluster|sentinel):\/\/(?:(?<account>[^@/]*)@)?(?<nodes>[^/?#]+)(?:\/(?<name>[^/?#]*))?(?:\?(?<options>.*))?$/;

/**
 * Reads `redis://[user:password@]host:port/db`, `redis+cluster://[user:password@]host:port,…` and
 * `redis+sentinel://[user:password@]sentinel:port,…/master-name[?db=1&sentinel_password=…]`; with `rediss` in place of `redis`, by TLS.
 *
 * @returns null for any other text
 */
export function readRedisAddress(text: string): RedisAddress | null {
  try {
    return readAny(text);
  } catch (error) {
    // A percent sign that encodes nothing, as in a password that was not encoded.
    if (error instanceof URIError) return null;
    throw error;
  }
}

function readAny(text: string): RedisAddress | null {
  const { scheme, kind, account, nodes = '', name = '', options } = SEVERAL.exec(text)?.groups ?? {};
  if (kind === undefined) return readServer(text);
  const several = nodes.split(',').map((node) => readNode(node, PORTS[kind as keyof typeof PORTS]));
  const found = several.filter((node) => node !== null);
  if (found.length < several.length) return null;
  const common = { ...readAccount(account), tls: scheme === 'rediss', nodes: found };
  if (kind === 'cluster') return { ...common, kind };
  const { db, sentinel_password } = Object.fromEntries(new URLSearchParams(options));
  if (name === '' || !/^\d{0,5}$/.test(db ?? '')) return null;
  return {
    ...{ ...common, kind: 'sentinel', name: decodeURIComponent(name), db: Number(db ?? 0) },
    ...(sentinel_password && { sentinelPassword: sentinel_password }),
  };
}

function readServer(text: string): RedisAddress | null {
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text)) return null;
  const { username, password, protocol } = new URL(text);
  return {
    kind: 'server',
    url: text,
    tls: protocol === 'rediss:',
    ...readAccount(`${username}:${password}`),
  };
}

/** As in the address of one server: `user:password`, `:password`, encoded as in any URL. */
function readAccount(account = ''): { username?: string; password?: string } {
  const [username = '', ...rest] = account.split(':');
  const password = rest.join(':');
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
}

function readNode(text: string, port: number): RedisNode | null {
  if (!URL.canParse(`redis://${text}`)) return null;
  const url = new URL(`redis://${text}`);
  return url.hostname === ''
    ? null
    : { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || port) };
}
