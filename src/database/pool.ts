import type { EventEmitter } from 'node:events';

/** Whoever holds a connection gets its error at once; what they have not given back by then is lost to them. */
const GRACE_MS = 1_000;

interface Client extends EventEmitter {
  release(destroy: boolean): void;
}

/**
 * Takes back connections of a `pg` pool that broke while somebody held them. Kysely does not give one back when its rollback
 * fails (kysely-org/kysely#1990): a restart of the database would cost a place for each transaction under way, and closing
 * the pool would wait for them for ever.
 */
export function reclaimBroken(pool: EventEmitter): void {
  const held = new Set<Client>();
  pool.on('acquire', (client: Client) => held.add(client));
  pool.on('release', (_error: unknown, client: Client) => held.delete(client));
  pool.on('connect', (client: Client) => {
    client.once('end', () => {
      setTimeout(() => {
        if (held.has(client)) client.release(true);
      }, GRACE_MS).unref();
    });
  });
}
