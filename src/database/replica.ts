import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { AppError } from '../core/errors.ts';
import type { PartState } from '../core/readiness.ts';
import { keepSweeping } from '../core/sweep.ts';
import { outsideCalls } from '../core/work.ts';
import { type Position, readIdentity, readPosition, readReplayed } from './replica.position.ts';
import { type PooledDatabase, runner, type Sql, type Statement } from './sql.ts';

/** How long a read waits for a connection to the replica, and then for the replica's position, before it goes to the primary. */
const PATIENCE_MS = 300;
/** The same for the position of the primary, which may have much to do. */
const POSITION_MS = 2_000;
/** How long a read waits for writes that the replica has not replayed yet. */
const LAG_MS = 50;
const LOOK_AGAIN_MS = 3;
/** Interval of the check of the replica. After a failure reads go to the primary until a check succeeds. */
const CHECK_MS = 1_000;

const reads = new Counter({
  name: 'parley_database_replica_reads_total',
  help: 'Reads of lists: answered by the replica; or by the primary, since the replica was behind, away, or failed in the read',
  labelNames: ['outcome'],
});

type State = 'ok' | 'behind' | 'away';
const STATES: Record<State, PartState> = {
  ok: { state: 'ok', detail: 'answers' },
  behind: { state: 'degraded', detail: 'is behind' },
  away: { state: 'degraded', detail: 'does not answer' },
};

/** A failure of the replica, for which the primary answers instead. */
class NotServed extends Error {
  readonly outcome: Exclude<State, 'ok'>;
  constructor(outcome: Exclude<State, 'ok'>, options?: ErrorOptions) {
    super(`The replica ${STATES[outcome].detail}.`, options);
    this.outcome = outcome;
  }
}

/**
 * A replica that answers reads only after it has replayed all that was committed before the read began: so a read shows each write that
 * any client may know of, and no right that was taken away, whichever process it comes to (`docs/decisions/read-replicas.md`).
 */
export class Replica {
  readonly #pool: Pool;
  readonly #log: Logger;
  readonly #primary: Sql;
  readonly #checking: { close(): Promise<void> };
  /** Of each connection: the position that its server has shown. A balancer may lead each to another server. */
  readonly #seen = new WeakMap<PoolClient, Position>();
  #state: State = 'away';
  #installation: string | undefined;
  /** The question for the position that runs, and the one that begins after it. */
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Position> | undefined;

  constructor(pool: Pool, primary: Sql, log: Logger) {
    this.#pool = pool;
    this.#primary = primary;
    this.#log = log;
    // A failure of the primary is reported by what needs the primary.
    this.#checking = keepSweeping(
      CHECK_MS,
      () => this.#check(),
      (error) => this.#noteFailure(error),
    );
  }

  state(): PartState {
    return STATES[this.#state];
  }

  /** Runs a read on the replica or, when that cannot answer it now, on the primary. It may run twice. */
  async read<T>(work: (client: PoolClient) => Promise<T>, onPrimary: () => Promise<T>): Promise<T> {
    if (this.#state !== 'ok') {
      reads.inc({ outcome: this.#state });
      return onPrimary();
    }
    const client = await this.#take().catch((error: unknown) => {
      const outcome = this.#noteFailure(error);
      if (!outcome) throw error;
      reads.inc({ outcome });
    });
    if (!client) return onPrimary();
    try {
      const result = await work(client);
      client.release();
      reads.inc({ outcome: 'replica' });
      return result;
    } catch (error) {
      client.release(true);
      if (isOwn(error)) throw error;
      reads.inc({ outcome: 'failed' });
      return onPrimary();
    }
  }

  close(): Promise<void> {
    return this.#checking.close();
  }

  async #check(): Promise<void> {
    const client = await this.#take({ isAfresh: true });
    client.release();
    if (this.#state !== 'ok') this.#log.info('The replica of DATABASE_READ_URL answers lists.');
    this.#state = 'ok';
  }

  #noteFailure(error: unknown): State | undefined {
    if (!(error instanceof NotServed)) return undefined;
    if (this.#state === 'ok') {
      this.#log.warn({ err: error }, 'The replica of DATABASE_READ_URL cannot be used: the primary answers.');
    }
    this.#state = error.outcome;
    return error.outcome;
  }

  /**
   * A connection that shows everything that was committed before the call.
   *
   * @param options `isAfresh`: asks the server again who it is
   * @throws NotServed
   */
  async #take({ isAfresh = false } = {}): Promise<PoolClient> {
    const wanted = await this.#position().catch((cause: Error) => {
      throw cause instanceof Late ? new NotServed('away', { cause }) : cause;
    });
    const client = await this.#connect();
    if (isAfresh) this.#seen.delete(client);
    try {
      await inTime(this.#untilReplayed(client, wanted));
      return client;
    } catch (cause) {
      client.release(!(cause instanceof NotServed));
      throw cause instanceof NotServed ? cause : new NotServed('away', { cause });
    }
  }

  async #connect(): Promise<PoolClient> {
    const connecting = this.#pool.connect();
    try {
      return await inTime(connecting);
    } catch (cause) {
      connecting.then((late) => late.release(true)).catch(() => {});
      throw isOwn(cause) ? cause : new NotServed('away', { cause });
    }
  }

  /**
   * The position of the primary, asked after the call. One question is under way at a time, and answers all reads that came before it.
   */
  #position(): Promise<Position> {
    this.#next ??= this.#running.then(() => {
      // A question that gets lost with its connection must not keep the others.
      const asked = inTime(
        outsideCalls(() => readPosition(this.#primary)),
        POSITION_MS,
      );
      this.#next = undefined;
      this.#running = asked.catch(() => {});
      return asked;
    });
    return this.#next;
  }

  async #untilReplayed(client: PoolClient, wanted: Position): Promise<void> {
    const seen = this.#seen.get(client);
    if (seen?.timeline !== wanted.timeline) await this.#requireSame(client, wanted.timeline);
    else if (seen.at >= wanted.at) return;
    for (const end = performance.now() + LAG_MS; ; await delay(LOOK_AGAIN_MS)) {
      const at = await readReplayed(client);
      this.#seen.set(client, { timeline: wanted.timeline, at });
      if (at >= wanted.at) return;
      if (at < 0 || performance.now() > end) throw new NotServed('behind');
    }
  }

  /** Refuses another database, and a replica that does not follow the primary's last failover. */
  async #requireSame(client: PoolClient, timeline: number): Promise<void> {
    this.#installation ??= (await readIdentity(this.#primary)).installation;
    const identity = await readIdentity(runner(client));
    if (identity.installation !== this.#installation) {
      throw new NotServed('away', { cause: new Error('DATABASE_READ_URL leads to another database.') });
    }
    if (identity.timeline !== timeline) throw new NotServed('behind');
  }
}

/** The database, whose lists the replica reads. */
export const withReplica = (primary: PooledDatabase, replica: Replica): PooledDatabase => ({
  ...primary,
  replica: () => replica.state(),
  rows<Row>(of: Statement<Row, never>, params: object = {}) {
    const onPrimary = () => primary.rows(of, params as never);
    if (!of.isOnReplica) return onPrimary();
    return replica.read((client) => runner(client).rows(of, params as never), onPrimary);
  },
  read: (work) =>
    replica.read(
      (client) => work(client, runner(client)),
      () => primary.read(work),
    ),
});

class Late extends Error {}

/** A server whose host is gone does not answer at all. @throws Late */
async function inTime<T>(work: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late(`No answer in ${patienceMs} ms.`)), patienceMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** An answer of the server's own, such as that too many wait, or that the statement took too long: the primary gives no better one. */
function isOwn(error: unknown): boolean {
  const { cause, code } = error as Error & { code?: unknown };
  return cause instanceof AppError || code === '57014';
}
