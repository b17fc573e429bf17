/**
 * Failures of the environment: the database is unreachable, or a disk is full. Callers get 503 with a time to
 * retry.
 */
export type Outage = 'away' | 'full';

/** The sentences for callers and the log. */
export const OUTAGES: Record<Outage, string> = {
  away: 'The database does not answer.',
  full: 'The disk is full.',
};

/**
 * PostgreSQL cannot serve any statement now: lost connections, a shutdown, no memory, a standby after a
 * failover.
 */
const AWAY = /^(08...|53[023]00|57P0[1235]|58030|25006)$/;
/** PostgreSQL's own disk, and the server's. */
const FULL = /^(53100|ENOSPC|EDQUOT)$/;
/** `pg`'s message for a connection that broke earlier. */
const BROKEN = /^Client (was closed|has encountered a connection error) and is not queryable$/;

interface Marked {
  /** Own and enumerable, because the ORM copies such members to its own error. */
  isOutage?: true;
  code?: unknown;
}

/** Marks an error of a database connection: the codes of socket errors also occur on other connections. */
export function markOutage<T>(error: T): T {
  if (error instanceof Error) Object.assign(error, { isOutage: true } satisfies Marked);
  return error;
}

/** The outage within an error, at any depth. */
export function outageIn(error: unknown): Outage | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, isOutage } = at as Marked;
    const text = typeof code === 'string' ? code : '';
    if (FULL.test(text)) return 'full';
    if (isOutage || AWAY.test(text) || BROKEN.test(at.message)) return 'away';
  }
  return undefined;
}

/** How long the disk counts as full after a refused write. */
const FULL_MS = 30_000;
let fullUntil = 0;

/** Records that a write was refused. */
export const noteDiskFull = (): void => {
  fullUntil = performance.now() + FULL_MS;
};
export const isDiskFull = (): boolean => performance.now() < fullUntil;
