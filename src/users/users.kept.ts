import { LRUCache } from 'lru-cache';
import type { Sql } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';
import { type OwnAccount, readOwnAccount } from './users.repository.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** A status or another part of a profile changed that only its owner's account shows. */
    'users.profile': { userId: string };
  }
}

declare module '../core/scope.ts' {
  interface Parts {
    readonly keptAccounts: KeptAccounts;
  }
}

/** As long as a verified credential is: the time of the last activity is exact to about half a minute anyway. */
const KEPT_MS = 30_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Of a row without its picture. */
const ROW_BYTES = 2048;

/**
 * The accounts that were read by their owners in the last seconds. Each visit of a page begins with this read, and most programs make it
 * again and again. A notice about the account drops the row.
 */
export class KeptAccounts {
  readonly #bus: Bus;
  readonly #rows = new LRUCache<string, OwnAccount>({
    maxSize: MOST_BYTES,
    ttl: KEPT_MS,
    sizeCalculation: ({ profile_image_url: image }) => ROW_BYTES + 2 * image.length,
  });
  /** Grows at each change of any account: a row that was read before a change is not kept after it. */
  #changes = 0;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Undefined if the account was deleted. */
  async read(sql: Sql, id: string): Promise<OwnAccount | undefined> {
    const kept = this.#bus.healthy ? this.#rows.get(id) : undefined;
    if (kept) return kept;
    const changes = this.#changes;
    const row = await readOwnAccount(sql, id);
    if (row && changes === this.#changes) this.#rows.set(id, row);
    return row;
  }

  drop(id: string): void {
    this.#changes += 1;
    this.#rows.delete(id);
  }

  dropAll(): void {
    this.#changes += 1;
    this.#rows.clear();
  }
}

export function keepAccounts(bus: Bus): { accounts: KeptAccounts; close(): void } {
  const accounts = new KeptAccounts(bus);
  const drop = ({ userId }: { userId: string }) => accounts.drop(userId);
  const stops = [
    bus.subscribe('auth.changed', drop),
    bus.subscribe('users.profile', drop),
    // Sessions of an account end together when its role changes. The end of one session or key changes no account.
    bus.subscribe('auth.revoked', ({ userId, sessionId, keyId }) => {
      if (sessionId === null && keyId === undefined) accounts.drop(userId);
    }),
    bus.onGap(() => accounts.dropAll()),
  ];
  return {
    accounts,
    close() {
      for (const stop of stops) stop();
    },
  };
}
