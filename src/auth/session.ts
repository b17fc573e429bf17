import { type Adapter, type DatabaseSession, type DatabaseUser, Lucia, TimeSpan } from 'lucia';
import { groupPermissions } from '../access/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Role } from '../core/scope.ts';
import { type Sql, statement } from '../database/sql.ts';

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

interface UserAttributes {
  email: string;
  name: string;
  role: Role;
  /** Names of permissions. */
  granted: string[];
}

interface SessionRow {
  id: string;
  user_id: string;
  expires_at: number;
  created_at: number;
  ip: string;
  user_agent: string;
}

const SESSION_COLUMNS = `s.id, s.user_id, extract(epoch from s.expires_at)::float8 as expires_at,
  extract(epoch from s.created_at)::float8 as created_at, s.ip, s.user_agent`;

const READ = statement<SessionRow & UserAttributes>(
  'session.read',
  `select ${SESSION_COLUMNS}, u.email, u.name, u.role, ${groupPermissions('u.id')} as granted
     from session s join users u on u.id = s.user_id where s.id = $1`,
);
const OF_USER = statement<SessionRow>(
  'session.of_user',
  `select ${SESSION_COLUMNS} from session s where s.user_id = $1 order by s.created_at desc`,
);
// The account's row is locked against a change of the password, which ends all sessions that it finds afterwards.
const INSERT = statement<{ id: string }>(
  'session.insert',
  `insert into session (id, user_id, expires_at, created_at, ip, user_agent)
   select $1, u.id, $3, $4, $5, $6 from users u
    where u.id = $2 and ($7::text is null or u.password_hash = $7) for share
   returning id`,
);
const SEEN = statement(
  'session.seen',
  'update session set last_seen_at = to_timestamp($2) where id = any($1)',
);
const EXTEND = statement('session.extend', 'update session set expires_at = $2 where id = $1');
const DELETE = statement('session.delete', 'delete from session where id = $1');
const DELETE_OF_USER = statement('session.delete_of_user', 'delete from session where user_id = $1');
const DELETE_EXPIRED = statement('session.delete_expired', 'delete from session where expires_at < now()');

const toSession = (row: SessionRow): DatabaseSession => ({
  id: row.id,
  userId: row.user_id,
  expiresAt: new Date(row.expires_at * 1000),
  attributes: { created_at: new Date(row.created_at * 1000), ip: row.ip, user_agent: row.user_agent },
});

/** Lucia's view of the tables. Reading a session is one statement; Lucia's own adapter needs two. */
function adapter(sql: Sql, passwordHash: string | null): Adapter {
  return {
    async getSessionAndUser(sessionId) {
      const [row] = await sql.rows(READ, [sessionId]);
      if (!row) return [null, null];
      const user: DatabaseUser = {
        id: row.user_id,
        attributes: { email: row.email, name: row.name, role: row.role, granted: row.granted },
      };
      return [toSession(row), user];
    },
    async getUserSessions(userId) {
      return (await sql.rows(OF_USER, [userId])).map(toSession);
    },
    async setSession({ id, userId, expiresAt, attributes }) {
      const { created_at, ip, user_agent } = attributes;
      const values = [id, userId, expiresAt, created_at, ip, user_agent, passwordHash];
      const [row] = await sql.rows(INSERT, values);
      if (!row) throw new AppError('credentials_wrong');
    },
    async updateSessionExpiration(sessionId, expiresAt) {
      await sql.rows(EXTEND, [sessionId, expiresAt]);
    },
    async deleteSession(sessionId) {
      await sql.rows(DELETE, [sessionId]);
    },
    async deleteUserSessions(userId) {
      await sql.rows(DELETE_OF_USER, [userId]);
    },
    async deleteExpiredSessions() {
      await sql.rows(DELETE_EXPIRED, []);
    },
  };
}

/**
 * Lucia over our tables, for sessions of a lifetime. It is no longer developed, so this file alone knows it.
 *
 * @param lifetimeMs   how long a session lives from its creation
 * @param passwordHash when given, `createSession` throws credentials_wrong unless the account still has this password
 */
export function openSessions(sql: Sql, lifetimeMs: number, passwordHash: string | null = null) {
  return new Lucia(adapter(sql, passwordHash), {
    sessionExpiresIn: new TimeSpan(lifetimeMs, 'ms'),
    getSessionAttributes: (attributes) => attributes,
    getUserAttributes: (attributes) => attributes,
  });
}

/** Notes when sessions were seen last, in Unix seconds. */
export async function storeSessionsSeen(sql: Sql, ids: string[], atSeconds: number): Promise<void> {
  await sql.rows(SEEN, [ids, atSeconds]);
}

/** Expired sessions admit nobody; their rows are only kept until somebody has time. */
const EXPIRY_SWEEP_MS = 3_600_000;

/** Deletes expired sessions, now and every hour, until it is stopped. */
export function removeExpiredSessions(sql: Sql, onError: (error: unknown) => void): { stop(): void } {
  const sweep = () => void openSessions(sql, 0).deleteExpiredSessions().catch(onError);
  sweep();
  const timer = setInterval(sweep, EXPIRY_SWEEP_MS).unref();
  return { stop: () => clearInterval(timer) };
}
