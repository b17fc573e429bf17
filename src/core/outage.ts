/**
 * Failures of the surroundings: the database is away, or a disk is full. Callers are answered 503 and told to come back.
 */
export type Outage = 'away' | 'full';

/** What callers and the log are told. */
export const OUTAGES: Record<Outage, string> = {
  away: 'The database does not answer.',
  full: 'The disk is full.',
};

/** PostgreSQL cannot serve now, whatever it was asked: lost connections, a shutdown, no memory, a standby after a failover. */
const AWAY = /^(08...|53[023]00|57P0[1235]|58030|25006)$/;
/** PostgreSQL's own disk, and the server's. */
const FULL = /^(53100|ENOSPC|EDQUOT)$/;
/** What `pg` answers on a connection that broke before. */
const BROKEN = /^Client (was closed|has encountered a connection error) and is not queryable$/;

interface Marked {
  /** Own and enumerable, as the ORM copies such members to the error that it throws instead. */
  isOutage?: true;
  code?: unknown;
}

/** Marks an error of a connection to the database: a socket's own, whose code other connections know as well. */
export function markOutage<T>(error: T): T {
  if (error instanceof Error) Object.assign(error, { isOutage: true } satisfies Marked);
  return error;
}

/** The outage that an error came of, however deep in what was made of it on the way. */
export function outageIn(error: unknown): Outage | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, isOutage } = at as Marked;
    const text = typeof code === 'string' ? code : '';
    if (FULL.test(text)) return 'full';
    if (isOutage || AWAY.test(text) || BROKEN.test(at.message)) return 'away';
  }
  return undefined;
}

/** For how long after a refused write the disk counts as full. */
const FULL_MS = 30_000;
let fullUntil = 0;

/** Notes that a write was refused. */
export const noteDiskFull = (): void => {
  fullUntil = performance.now() + FULL_MS;
};
export const isDiskFull = (): boolean => performance.now() < fullUntil;
