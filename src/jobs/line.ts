import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { OUTAGES } from '../core/outage.ts';
import { runner } from '../database/sql.ts';
import { HOLD_LOCK } from './queue.repository.ts';

const RETRY_MS = 1_000;

export interface LineOptions {
  orm: MikroORM;
  workerId: string;
  log: Logger;
  /** Called for new jobs, and when the line begins to listen: jobs may have been added before. */
  onJobs(): void;
}

/**
 * Holds a connection with the lock of this worker, which shows the others that it is alive, and which listens for new jobs. A lost
 * connection is replaced.
 */
export async function holdLine({ orm, workerId, log, onJobs }: LineOptions): Promise<() => Promise<void>> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;
  let hangUp = async () => {};

  async function call(): Promise<void> {
    const client = await pool.connect();
    let isOver = false;
    const drop = () => {
      if (isOver) return;
      isOver = true;
      client.removeAllListeners('notification');
      // Destroyed instead of returned: the next user of the connection must get neither the lock nor the notices.
      client.release(true);
    };
    hangUp = async () => {
      // A closed connection would release the lock too, but only when PostgreSQL notices.
      if (!isOver) await client.query('select pg_advisory_unlock_all()').catch(() => {});
      drop();
    };
    let holds = false;
    client.once('error', () => {
      drop();
      if (holds && !isClosed) callAgain();
    });
    client.on('notification', onJobs);
    try {
      await runner(client).rows(HOLD_LOCK.lock, { workerId });
      await client.query(HOLD_LOCK.listen);
    } catch (error) {
      drop();
      throw error;
    }
    // The answer may arrive together with the end of the connection.
    if (isOver) throw new Error('The connection ended when it began to listen.');
    holds = true;
    if (isClosed) await hangUp();
    else onJobs();
  }

  function callAgain(): void {
    call().catch((error: unknown) => {
      log.warn({ err: error }, OUTAGES.away);
      if (!isClosed) retry = setTimeout(callAgain, RETRY_MS).unref();
    });
  }

  await call();
  return async () => {
    isClosed = true;
    clearTimeout(retry);
    await hangUp();
  };
}
