import { type EntryParams, insertEntry } from '../../audit/audit.record.repository.ts';
import type { Role } from '../../core/scope.ts';
import { statement } from '../../database/sql.ts';
import { groupPermissions } from '../../groups/groups.permissions.repository.ts';

export interface UserAttributes {
  email: string;
  name: string;
  role: Role;
  /** Names of permissions. */
  granted: string[];
}

export interface SessionRow {
  id: string;
  user_id: string;
  expires_at: number;
  created_at: number;
  ip: string;
  user_agent: string;
}

const SESSION_COLUMNS = `s.id, s.user_id, extract(epoch from s.expires_at)::float8 as expires_at,
  extract(epoch from s.created_at)::float8 as created_at, s.ip, s.user_agent`;

export const READ = statement<SessionRow & UserAttributes, { id: string }>(
  'session.read',
  `select ${SESSION_COLUMNS}, u.email, u.name, u.role, ${groupPermissions('u.id')} as granted
     from session s join users u on u.id = s.user_id where s.id = :id`,
);

export const OF_USER = statement<SessionRow, { userId: string }>(
  'session.of_user',
  `select ${SESSION_COLUMNS} from session s where s.user_id = :userId order by s.created_at desc`,
);

// Locks the account's row against a password change, which ends all sessions that it finds afterwards. One
// statement does all of it: each statement adds a round trip to the sign-in.
interface BeginParams extends EntryParams {
  id: string;
  userId: string;
  expiresAt: Date;
  createdAt: Date;
  ip: string;
  userAgent: string;
  passwordHash: string | null;
}
export const BEGIN = statement<{ granted: string[] }, BeginParams>(
  'session.begin',
  `with begun as (
     insert into session (id, user_id, expires_at, created_at, ip, user_agent)
     select :id, u.id, :expiresAt, :createdAt, :ip, :userAgent from users u
      where u.id = :userId and (:passwordHash::text is null or u.password_hash = :passwordHash) for share
     returning user_id),
   noted as (${insertEntry('begun')})
   select ${groupPermissions('begun.user_id')} as granted from begun`,
);

export const END = statement<{ issuer: string }, EntryParams & { id: string }>(
  'session.end',
  `with ended as (delete from session where id = :id returning id), noted as (${insertEntry('ended')})
   select p.issuer from provider_session p join ended on ended.id = p.session_id`,
);

export const SEEN = statement<never, { ids: string[]; at: number }>(
  'session.seen',
  'update session set last_seen_at = to_timestamp(:at) where id = any(:ids)',
);

export const EXTEND = statement<never, { id: string; expiresAt: Date }>(
  'session.extend',
  'update session set expires_at = :expiresAt where id = :id',
);

export const DELETE = statement<never, { id: string }>(
  'session.delete',
  'delete from session where id = :id',
);

export const DELETE_OF_USER = statement<never, { userId: string }>(
  'session.delete_of_user',
  'delete from session where user_id = :userId',
);

export const DELETE_EXPIRED = statement<never>(
  'session.delete_expired',
  'delete from session where expires_at < now()',
);
