import type { Outputs } from '@parley/client';
import { MASK, type Setting } from '../settings/settings.ts';

export type Kind = 'hosted' | 'ollama';

/** What the server says of a connection in use. */
export type State = Outputs['providers']['list'][number];

/** The settings of one connection, as `api_configs` of the configuration holds them. */
export interface ConnectionConfig {
  enable?: boolean | null;
  name?: string | null;
  prefix_id?: string | null;
  model_ids?: string[] | null;
  tags?: (string | { name: string })[] | null;
  auth_type?: string | null;
  headers?: Record<string, string> | null;
  extra_params?: Record<string, unknown> | null;
  concurrency?: number | null;
  first_token_seconds?: number | null;
  between_tokens_seconds?: number | null;
  total_seconds?: number | null;
  key?: string | null;
  [other: string]: unknown;
}

export interface Connection {
  kind: Kind;
  url: string;
  /** Masked where one is stored; empty without one. */
  key: string;
  config: ConnectionConfig;
  /** True where the configuration names the settings by the address instead of the place. */
  isByUrl: boolean;
}

/** The section of the configuration, and what its list of addresses is called there. */
export const SECTION = { hosted: 'hosted_model_api', ollama: 'local_model_server' } as const;
const ADDRESSES = { hosted: 'api_base_urls', ollama: 'base_urls' } as const;

export const settingNamed = (
  settings: Setting[],
  kind: Kind,
  name: 'enable' | 'urls' | 'api_keys' | 'api_configs',
) => settings.find(({ path }) => path === `${SECTION[kind]}.${name === 'urls' ? ADDRESSES[kind] : name}`);

/** The connections of one kind, in their order. */
export function connectionsOf(settings: Setting[], kind: Kind): Connection[] {
  const read = (name: Parameters<typeof settingNamed>[2]) => settingNamed(settings, kind, name)?.value;
  const urls = (read('urls') ?? []) as string[];
  const keys = (read('api_keys') ?? []) as string[];
  const configs = (read('api_configs') ?? {}) as Record<string, ConnectionConfig>;
  return urls.map((url, index) => {
    const byPlace = configs[String(index)];
    const config = byPlace ?? configs[url] ?? {};
    return {
      kind,
      url,
      key: kind === 'hosted' ? (keys[index] ?? '') : (config.key ?? ''),
      config,
      isByUrl: !byPlace && Object.hasOwn(configs, url),
    };
  });
}

/** The settings that hold these connections, for an import. The first connection switches the section on. */
export function settingsOf(kind: Kind, connections: Connection[], wasEmpty: boolean): [string, unknown][] {
  const section = SECTION[kind];
  const configs = connections.map(({ config, key, url, isByUrl }, index) => [
    isByUrl ? url : String(index),
    kind === 'ollama' ? withKey(config, key) : config,
  ]);
  return [
    [`${section}.${ADDRESSES[kind]}`, connections.map(({ url }) => url)],
    [`${section}.api_configs`, Object.fromEntries(configs)],
    ...(kind === 'hosted'
      ? ([[`${section}.api_keys`, connections.map(({ key }) => key)]] as [string, unknown][])
      : []),
    ...(wasEmpty ? ([[`${section}.enable`, true]] as [string, unknown][]) : []),
  ];
}

function withKey({ key: _key, ...config }: ConnectionConfig, key: string): ConnectionConfig {
  return key === '' ? config : { ...config, key };
}

/** The name that the server gives a connection without one of its own. */
export const shownName = ({ kind, config }: Connection, index: number): string =>
  config.name || `${kind === 'hosted' ? 'Provider' : 'Ollama'} ${index + 1}`;

export const newConnection = (kind: Kind): Connection => ({
  kind,
  url: '',
  key: '',
  config: {},
  isByUrl: false,
});

/** A stored secret belongs to its address: with another address it must be typed again. */
export const hasLostSecrets = (before: Connection | null, after: Connection): boolean =>
  after.url.replace(/\/+$/, '') !== before?.url.replace(/\/+$/, '') &&
  [after.key, ...Object.values(after.config.headers ?? {})].includes(MASK);

/** The address as the list of states has it. */
export const baseUrlOf = ({ kind, url }: Pick<Connection, 'kind' | 'url'>): string => {
  const address = url.replace(/\/+$/, '');
  return kind === 'ollama' && !address.endsWith('/v1') ? `${address}/v1` : address;
};
