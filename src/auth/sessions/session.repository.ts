import { insertEntry } from '../../audit/audit.record.repository.ts';
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

export const READ = statement<SessionRow & UserAttributes>(
  'session.read',
  `select ${SESSION_COLUMNS}, u.email, u.name, u.role, ${groupPermissions('u.id')} as granted
     from session s join users u on u.id = s.user_id where s.id = $1`,
);

export const OF_USER = statement<SessionRow>(
  'session.of_user',
  `select ${SESSION_COLUMNS} from session s where s.user_id = $1 order by s.created_at desc`,
);

// The account's row is locked against a change of the password, which ends all sessions that it finds afterwards. One statement
// for all of it: a sign-in takes as long as its statements and their way there.
export const BEGIN = statement<{ granted: string[] }>(
  'session.begin',
  `with begun as (
     insert into session (id, user_id, expires_at, created_at, ip, user_agent)
     select $1, u.id, $3, $4, $5, $6 from users u
      where u.id = $2 and ($7::text is null or u.password_hash = $7) for share
     returning user_id),
   noted as (${insertEntry(8, 'begun')})
   select ${groupPermissions('begun.user_id')} as granted from begun`,
);

export const END = statement<{ issuer: string }>(
  'session.end',
  `with ended as (delete from session where id = $1 returning id), noted as (${insertEntry(2, 'ended')})
   select p.issuer from provider_session p join ended on ended.id = p.session_id`,
);

export const SEEN = statement(
  'session.seen',
  'update session set last_seen_at = to_timestamp($2) where id = any($1)',
);

export const EXTEND = statement('session.extend', 'update session set expires_at = $2 where id = $1');

export const DELETE = statement('session.delete', 'delete from session where id = $1');

export const DELETE_OF_USER = statement('session.delete_of_user', 'delete from session where user_id = $1');

export const DELETE_EXPIRED = statement(
  'session.delete_expired',
  'delete from session where expires_at < now()',
);
