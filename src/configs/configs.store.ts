import type { MikroORM } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { nowSeconds } from '../core/time.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';
import { DEFAULT_CONFIGURATION } from './configs.defaults.ts';
import { ConfigRow } from './configs.entity.ts';
import type { Configuration } from './configs.schema.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** Between processes: a newer configuration is stored. */
    'config.stored': { revision: number };
    /** Within a process: another configuration is in force in it. */
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

/** The configuration in force, held in memory: reading it costs nothing. */
export interface ConfigStore {
  readonly current: Configuration;
  readonly revision: number;
  /** Names this installation, so that several may share one Redis. */
  readonly installationId: string;
  /** Takes over what this process has just stored, and tells the others. */
  adopt(configuration: Configuration, revision: number): void;
}

interface StoredConfig {
  revision: number;
  data: Configuration;
  installation_id: string;
}

const READ = statement<StoredConfig>(
  'config.read',
  'select revision, data, installation_id from config where id = 1',
);

/** Reads the stored configuration, first storing the defaults when there is none. */
export async function openConfigStore(
  orm: MikroORM,
  sql: Sql,
): Promise<ConfigStore & { follow(bus: Bus): () => void }> {
  await orm.em.fork().upsert(
    ConfigRow,
    {
      id: 1,
      revision: 1,
      data: DEFAULT_CONFIGURATION,
      updated_at: nowSeconds(),
      updated_by: null,
      installation_id: uuidv7(),
    },
    { onConflictAction: 'ignore' },
  );

  const read = async (): Promise<StoredConfig> => {
    const [row] = await sql.rows(READ, []);
    if (!row) throw new Error('The configuration row is gone.');
    return row;
  };
  let held = await read();
  let bus: Bus | undefined;
  let retry: NodeJS.Timeout | undefined;

  /** Never goes back: an older answer may arrive after a newer one. */
  const take = (stored: StoredConfig) => {
    if (stored.revision <= held.revision) return;
    held = stored;
    bus?.announce('config.changed', { revision: held.revision });
  };

  /** Until it succeeds, the older configuration stays in force. */
  const refresh = () => {
    clearTimeout(retry);
    read().then(take, () => {
      if (bus) retry = setTimeout(refresh, RETRY_MS).unref();
    });
  };

  return {
    get current() {
      return held.data;
    },
    get revision() {
      return held.revision;
    },
    installationId: held.installation_id,
    adopt(configuration, revision) {
      take({ ...held, data: configuration, revision });
      bus?.publish('config.stored', { revision });
    },
    follow(notices) {
      bus = notices;
      const unsubscribe = [
        notices.subscribe('config.stored', ({ revision }) => {
          if (revision > held.revision) refresh();
        }),
        notices.onGap(refresh),
      ];
      // What was stored between the first reading and now was announced to nobody here.
      if (notices.shared) refresh();
      return () => {
        clearTimeout(retry);
        for (const end of unsubscribe) end();
        bus = undefined;
      };
    },
  };
}
