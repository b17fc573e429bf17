import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../core/errors.ts';
import { mapSecrets } from '../core/secrets/masks.ts';
import { seal, unseal } from '../core/secrets/seal.ts';
import type { Sql } from '../database/sql.ts';
import { StartError } from '../env.ts';
import type { Bus } from '../events/bus.ts';
import { readStored } from './configs.accept.ts';
import { faultsOfKept } from './configs.kept.ts';
import { complete } from './configs.overrides.ts';
import { applyPins, type Pin } from './configs.pins.ts';
import { beginConfig, readConfig, rememberConfig, type StoredConfig } from './configs.repository.ts';
import type { Configuration, ConfigurationFault } from './settings/configs.schema.ts';
import type { Tree } from './settings/configs.settings.ts';

declare module '../core/secrets/keys.ts' {
  interface KeyPurposes {
    configuration: true;
  }
}

declare module '../events/bus.ts' {
  interface BusTopics {
    /** Between processes, through PostgreSQL: a newer configuration is stored. */
    'config.stored': { revision: number };
    /** Within a process: a new configuration is in force. */
    'config.changed': { revision: number };
  }
}

declare module '../core/scope.ts' {
  interface Parts {
    readonly configs: ConfigStore;
  }
}

/** How long to wait before the configuration is read again when the database did not answer. */
const RETRY_MS = 500;

/** The prefix of a sealed text. */
export const SEALED = 'sealed:';
export const SEALED_FOR = { purpose: 'configuration', place: 'config' } as const;

/** The configuration in force, held in memory: reading it costs nothing. */
export interface ConfigStore {
  /** Includes the pinned values. Secrets are in clear: mask them before this leaves the server. */
  readonly current: Configuration;
  /** The settings that administrators have set; secrets are in clear. */
  readonly overrides: Tree;
  readonly revision: number;
  /** Stored values that cannot be used: their defaults are in force until a change replaces them. */
  readonly faults: readonly ConfigurationFault[];
  /** The settings that environment variables pin. */
  readonly pins: readonly Pin[];
  /** Names this installation, so that several may share one Redis. */
  readonly installationId: string;
  /** Whether the server sends events over WebSocket. The environment decides it, and clients read it. */
  readonly hasEventDoors: boolean;
  /** The form for the database: secrets are sealed. */
  seal(overrides: Tree): Tree;
  /** The overrides of a stored form, in clear. */
  open(data: Tree): Tree;
  /** Puts in force the version that this process has just stored. The code that stored it notifies the other processes. */
  adopt(overrides: Tree, revision: number): void;
}

export interface ConfigStoreOptions {
  /** The server's secret; secrets in the database are sealed with a key derived from it. */
  secret: string;
  pins: readonly Pin[];
  hasEventDoors: boolean;
  log: Logger;
}

/**
 * Reads the stored configuration. If there is none, it first stores one without overrides. `refresh` reads it again.
 *
 * @throws StartError when a newer version of the server stored it, or the row as a whole is wrong
 */
export async function openConfigStore(
  sql: Sql,
  { secret, pins, hasEventDoors, log }: ConfigStoreOptions,
): Promise<ConfigStore & { follow(bus: Bus): () => void; refresh(): void }> {
  await beginConfig(sql);
  await rememberConfig(sql, uuidv7());

  /** Secrets that cannot be read are logged and left out: the server must start, so that they can be set again. */
  const read = (data: Tree) => {
    const clear = mapSecrets(data, (text, { path }) => {
      if (!text.startsWith(SEALED)) return text;
      try {
        return unseal(secret, text.slice(SEALED.length), SEALED_FOR);
      } catch (error) {
        log.error({ err: error }, `The stored secret ${path} cannot be read: was SECRET_KEY changed?`);
        return '';
      }
    });
    return readStored(clear);
  };

  const inForce = (overrides: Tree) => applyPins(complete(overrides), pins);
  const hold = ({ revision, data, installation_id }: StoredConfig) => {
    const { overrides, faults: faulty } = read(data);
    const faults = [...faulty, ...faultsOfKept(complete(overrides))];
    for (const { path, message } of faults) {
      log.warn(`The stored ${path} cannot be used, and its default is in force: ${message}`);
    }
    return { revision, installation_id, overrides, faults, current: inForce(overrides) };
  };
  const first = await readConfig(sql);
  let held: ReturnType<typeof hold>;
  try {
    held = hold(first);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    throw new StartError(`The stored configuration cannot be used: ${cause.message}`, { cause });
  }
  let bus: Bus | undefined;
  let retry: NodeJS.Timeout | undefined;

  /** Ignores an older revision: an older answer may arrive after a newer one. */
  const take = (newer: typeof held) => {
    if (newer.revision <= held.revision) return;
    held = newer;
    bus?.announce('config.changed', { revision: held.revision });
  };

  /** Reads the configuration, and retries while the database does not answer. The older one stays in force meanwhile. */
  const refresh = () => {
    clearTimeout(retry);
    readConfig(sql).then(
      (stored) => {
        try {
          take(hold(stored));
        } catch (error) {
          log.error(
            { err: error },
            'The stored configuration cannot be used; the former one stays in force.',
          );
        }
      },
      () => {
        if (bus) retry = setTimeout(refresh, RETRY_MS).unref();
      },
    );
  };

  return {
    get current() {
      return held.current;
    },
    get overrides() {
      return held.overrides;
    },
    get revision() {
      return held.revision;
    },
    get faults() {
      return held.faults;
    },
    pins,
    hasEventDoors,
    installationId: held.installation_id,
    seal: (overrides) => mapSecrets(overrides, (text) => SEALED + seal(secret, text, SEALED_FOR)),
    open: (data) => read(data).overrides,
    adopt(overrides, revision) {
      const faults = faultsOfKept(complete(overrides));
      take({ ...held, overrides, faults, current: inForce(overrides), revision });
    },
    refresh,
    follow(notices) {
      bus = notices;
      const unsubscribe = [
        notices.subscribe('config.stored', ({ revision }) => {
          if (revision > held.revision) refresh();
        }),
        notices.onGap(refresh),
      ];
      // This process got no notice of a version that was stored between the first read and now.
      if (notices.shared) refresh();
      return () => {
        clearTimeout(retry);
        for (const end of unsubscribe) end();
        bus = undefined;
      };
    },
  };
}
