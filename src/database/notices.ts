import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { type Bus, type BusTopics, createLocalBus, type Topic } from '../events/bus.ts';
import { type Sql, statement } from './sql.ts';

/**
 * Notices through PostgreSQL: for topics that must arrive without Redis, and for commands of the shell, which share only
 * the database with the servers.
 */
const CHANNEL = 'parley_notices';
const RETRY_MS = 1_000;

const NOTIFY = statement<never, { channel: string; text: string }>(
  'notices.notify',
  'select pg_notify(:channel, :text)',
);

/** Tells every server of the database when the transaction commits. At most 8000 bytes. */
export async function notify<T extends Topic>(sql: Sql, topic: T, message: BusTopics[T]): Promise<void> {
  await notifyText(sql, JSON.stringify({ topic, message }));
}

/** The same for the text of a notice, as `Bus.hear` takes it. */
export const notifyText = (sql: Sql, text: string): Promise<unknown> =>
  sql.rows(NOTIFY, { channel: CHANNEL, text });

/** The bus of a command of the shell: its notices reach every server of the database. */
export function createNotifyingBus(
  sql: Sql,
  onError: (error: unknown) => void,
): Bus & { sent(): Promise<unknown> } {
  const local = createLocalBus(onError);
  const pending: Promise<unknown>[] = [];
  const tell: Bus['tell'] = (topic, message) => {
    local.publish(topic, message);
    const sent = notify(sql, topic, message).catch(onError);
    pending.push(sent);
    return sent;
  };
  return {
    ...local,
    publish: (topic, message) => void tell(topic, message),
    tell,
    /** Resolves when every notice so far was handed to PostgreSQL. */
    sent: () => Promise.all(pending),
  };
}

export interface FollowOptions {
  orm: MikroORM;
  bus: Bus;
  log: Logger;
  /** Called when notices may have been missed because the connection was lost. */
  onGap(): void;
}

/** Delivers these notices in this process; every server listens. Returns a function that stops it. */
export async function followNotices({ orm, bus, log, onGap }: FollowOptions): Promise<() => void> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  let stopped = false;
  let drop = () => {};
  let retry: NodeJS.Timeout | undefined;

  async function listen(): Promise<void> {
    const client = await pool.connect();
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      client.removeAllListeners('notification');
      // Destroyed instead of returned: the next user of the connection must not listen.
      client.release(true);
    };
    drop = end;
    client.on('notification', ({ payload }) => hear(payload));
    let listens = false;
    client.once('error', () => {
      end();
      // A failure before that goes to the caller, which tries again.
      if (listens && !stopped) relisten();
    });
    await client.query(`listen ${CHANNEL}`).catch((error: unknown) => {
      drop();
      throw error;
    });
    // The answer may arrive together with the end of the connection.
    if (ended) throw new Error('The connection ended when it began to listen.');
    listens = true;
    if (stopped) drop();
  }

  function relisten(): void {
    listen().then(onGap, () => {
      if (!stopped) retry = setTimeout(relisten, RETRY_MS).unref();
    });
  }

  function hear(payload = ''): void {
    try {
      bus.hear(payload);
    } catch (error) {
      log.warn({ err: error }, 'A notice through the database could not be read.');
    }
  }

  await listen();
  return () => {
    stopped = true;
    clearTimeout(retry);
    drop();
  };
}
