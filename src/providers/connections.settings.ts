import type { z } from 'zod';
import { BOARD_URL } from '../board/board.ts';
import type { Configuration } from '../configs/settings/configs.schema.ts';
import type { ConnectionSettings } from './providers.terms.ts';

/** One connection of the configuration, with its defaults filled in. */
export interface Connected {
  /** Unique among the connections. */
  name: string;
  kind: 'hosted' | 'ollama' | 'board';
  /** The address below which the paths of OpenAI's API are. */
  baseUrl: string;
  /** Empty without one. */
  key: string;
  prefix: string;
  /** Empty: the provider is asked. */
  modelIds: readonly string[];
  tags: readonly { name: string }[];
  connectionType: 'external' | 'local';
  headers: Readonly<Record<string, string>>;
  extraParams: Readonly<Record<string, unknown>>;
  concurrency: number;
  firstTokenMs: number;
  betweenTokensMs: number;
  totalMs: number;
}

/** A local server may load a model of many gigabytes before its first token. */
const FIRST_TOKEN_SECONDS = 300;
const BETWEEN_TOKENS_SECONDS = 120;
const TOTAL_SECONDS = 3_600;

type Settings = z.infer<typeof ConnectionSettings>;

/** The connections of the configuration that are switched on, or all of them, in their order. */
export function connectionsOf(
  configuration: Pick<Configuration, 'hosted_model_api' | 'local_model_server'>,
  which: 'on' | 'all' = 'on',
): Connected[] {
  const { hosted_model_api: hosted, local_model_server: local } = configuration;
  const isMeant = (section: { enable: boolean }, { enable }: Settings) =>
    which === 'all' || (section.enable && enable !== false);
  const all = [
    ...hosted.api_base_urls.flatMap((url, index) => {
      const settings = settingsOf(hosted.api_configs, index, url, 'Provider');
      const key = hosted.api_keys[index] ?? '';
      return isMeant(hosted, settings) ? connectionOf('hosted', url, key, settings) : [];
    }),
    ...local.base_urls.flatMap((url, index) => {
      const settings = settingsOf(local.api_configs, index, url, 'Ollama');
      return isMeant(local, settings) ? connectionOf('ollama', url, '', settings) : [];
    }),
  ];
  const seen = new Map<string, number>();
  return all.map((connection) => {
    const count = (seen.get(connection.name) ?? 0) + 1;
    seen.set(connection.name, count);
    return count === 1 ? connection : { ...connection, name: `${connection.name} (${count})` };
  });
}

/** The settings that belong to one of the addresses, by its place or by itself. */
export const settingsWithin = <S extends Record<string, Settings> | undefined>(
  urls: readonly string[],
  configs: S,
): S =>
  configs &&
  (Object.fromEntries(
    Object.entries(configs).filter(([of]) => urls[Number(of)] !== undefined || urls.includes(of)),
  ) as S);

/** Without a name of its own, a connection is called by its place. */
function settingsOf(configs: Record<string, Settings>, index: number, url: string, noun: string): Settings {
  const settings = configs[String(index)] ?? configs[url] ?? {};
  return { ...settings, name: settings.name || `${noun} ${index + 1}` };
}

/** The connection to the model on board, which is offered while no other connection is configured. */
export const ON_BOARD: Connected = {
  ...connectionOf('hosted', BOARD_URL, '', { name: 'model on board', connection_type: 'local' }),
  kind: 'board',
  // It answers one call after the other: the others wait where turns are fair between people.
  concurrency: 1,
};

export function connectionOf(
  kind: 'hosted' | 'ollama',
  url: string,
  key: string,
  settings: Settings,
): Connected {
  const address = url.replace(/\/+$/, '');
  return {
    // Never the address: errors and `GET /ready` show the name to people who must not learn it.
    name: settings.name || 'The provider',
    kind,
    baseUrl: kind === 'ollama' && !address.endsWith('/v1') ? `${address}/v1` : address,
    // Ollama's settings hold the key of a server behind a proxy.
    key: settings.auth_type === 'none' ? '' : key || (typeof settings.key === 'string' ? settings.key : ''),
    prefix: settings.prefix_id ?? '',
    modelIds: settings.model_ids ?? [],
    tags: (settings.tags ?? []).map((tag) => ({ name: typeof tag === 'string' ? tag : tag.name })),
    connectionType: settings.connection_type ?? (kind === 'ollama' ? 'local' : 'external'),
    headers: settings.headers ?? {},
    extraParams: settings.extra_params ?? {},
    concurrency: settings.concurrency ?? Number.POSITIVE_INFINITY,
    firstTokenMs: 1000 * (settings.first_token_seconds ?? FIRST_TOKEN_SECONDS),
    betweenTokensMs: 1000 * (settings.between_tokens_seconds ?? BETWEEN_TOKENS_SECONDS),
    totalMs: 1000 * (settings.total_seconds ?? TOTAL_SECONDS),
  };
}
