import { type Adapter, type DatabaseSession, type DatabaseUser, Lucia, TimeSpan } from 'lucia';
import { v4 as uuidv4 } from 'uuid';
import type { EntryParams } from '../../audit/audit.record.repository.ts';
import { AppError } from '../../core/errors.ts';
import { keepSweeping } from '../../core/sweep.ts';
import type { Sql } from '../../database/sql.ts';
import {
  BEGIN,
  DELETE,
  DELETE_EXPIRED,
  DELETE_OF_USER,
  END,
  EXTEND,
  OF_USER,
  READ,
  SEEN,
  type SessionRow,
  type UserAttributes,
} from './session.repository.ts';

declare module 'lucia' {
  interface Register {
    Lucia: Lucia<SessionAttributes, UserAttributes>;
    DatabaseSessionAttributes: SessionAttributes;
    DatabaseUserAttributes: UserAttributes;
  }
}

interface SessionAttributes {
  created_at: Date;
  ip: string;
  user_agent: string;
}

const toSession = (row: SessionRow): DatabaseSession => ({
  id: row.id,
  userId: row.user_id,
  expiresAt: new Date(row.expires_at * 1000),
  attributes: { created_at: new Date(row.created_at * 1000), ip: row.ip, user_agent: row.user_agent },
});

/** The storage adapter for Lucia. It reads a session in one statement; Lucia's own adapter needs two. */
function adapter(sql: Sql, setSession: Adapter['setSession']): Adapter {
  return {
    async getSessionAndUser(sessionId) {
      const [row] = await sql.rows(READ, { id: sessionId });
      if (!row) return [null, null];
      const user: DatabaseUser = {
        id: row.user_id,
        attributes: { email: row.email, name: row.name, role: row.role, granted: row.granted },
      };
      return [toSession(row), user];
    },
    async getUserSessions(userId) {
      return (await sql.rows(OF_USER, { userId })).map(toSession);
    },
    setSession,
    async updateSessionExpiration(sessionId, expiresAt) {
      await sql.rows(EXTEND, { id: sessionId, expiresAt });
    },
    async deleteSession(sessionId) {
      await sql.rows(DELETE, { id: sessionId });
    },
    async deleteUserSessions(userId) {
      await sql.rows(DELETE_OF_USER, { userId });
    },
    async deleteExpiredSessions() {
      await sql.rows(DELETE_EXPIRED);
    },
  };
}

/** Lucia with our tables. Lucia is no longer developed, so only this file depends on it. */
const lucia = (sql: Sql, lifetimeMs: number, setSession: Adapter['setSession']) =>
  new Lucia(adapter(sql, setSession), {
    sessionExpiresIn: new TimeSpan(lifetimeMs, 'ms'),
    getSessionAttributes: (attributes) => attributes,
    getUserAttributes: (attributes) => attributes,
  });

/** Reads existing sessions; `beginSession` creates new ones. */
export const openSessions = (sql: Sql) =>
  lucia(sql, 0, () => Promise.reject(new Error('A session begins with its entry in the audit log.')));

interface Beginning {
  userId: string;
  /** Lifetime from now. */
  lifetimeMs: number;
  /** If given, the account must still have this password hash. */
  passwordHash: string | null;
  ip: string;
  userAgent: string;
  /** Builds the audit log entry. */
  entry: (sessionId: string) => EntryParams;
}

/**
 * Creates a session, together with its entry in the audit log.
 *
 * @returns also the names of the permissions from the user's groups
 * @throws credentials_wrong if the account was deleted, or its password has changed
 */
export async function beginSession(
  sql: Sql,
  { userId, lifetimeMs, passwordHash, ip, userAgent, entry }: Beginning,
): Promise<{ id: string; expiresAt: Date; granted: string[] }> {
  let granted: string[] = [];
  const sessions = lucia(sql, lifetimeMs, async ({ id, expiresAt, attributes }) => {
    const { created_at: createdAt, ip, user_agent: userAgent } = attributes;
    const session = { id, userId, expiresAt, createdAt, ip, userAgent, passwordHash };
    const [row] = await sql.rows(BEGIN, { ...session, ...entry(id) });
    if (!row) throw new AppError('credentials_wrong');
    granted = row.granted;
  });
  const attributes = { created_at: new Date(), ip, user_agent: userAgent.slice(0, 256) };
  const { id, expiresAt } = await sessions.createSession(userId, attributes, { sessionId: uuidv4() });
  return { id, expiresAt, granted };
}

/**
 * Ends a session, together with its entry in the audit log. Does nothing if the session does not exist.
 *
 * @returns the provider at which the session began, if any
 */
export async function endSession(sql: Sql, sessionId: string, entry: EntryParams): Promise<string | null> {
  const [row] = await sql.rows(END, { id: sessionId, ...entry });
  return row?.issuer ?? null;
}

/** Stores the last activity of sessions, in Unix seconds. */
export async function storeSessionsSeen(sql: Sql, ids: string[], atSeconds: number): Promise<void> {
  await sql.rows(SEEN, { ids, at: atSeconds });
}

/** Interval of the sweep for expired sessions. An expired session is refused even while its row exists. */
const EXPIRY_SWEEP_MS = 3_600_000;

/** Deletes expired sessions, now and every hour. */
export const removeExpiredSessions = (sql: Sql, onError: (error: unknown) => void) =>
  keepSweeping(EXPIRY_SWEEP_MS, () => openSessions(sql).deleteExpiredSessions(), onError);
