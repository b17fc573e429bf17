import { type Sql, statement } from '../../database/sql.ts';
import type { ProviderSessionView, SessionView } from './sessions.schema.ts';

const COLUMNS = `s.id, s.ip, s.user_agent, floor(extract(epoch from s.created_at))::float8 as created_at,
  floor(extract(epoch from s.last_seen_at))::float8 as last_seen_at,
  case when s.expires_at < now() + interval '50 years'
       then ceil(extract(epoch from s.expires_at))::float8 end as expires_at`;

export type SessionRow = Omit<SessionView, 'is_current'>;

const LIST = statement<SessionRow, { userId: string }>(
  'sessions.list',
  `select ${COLUMNS} from session s where s.user_id = :userId and s.expires_at > now()
    order by s.last_seen_at desc, s.id`,
);

/** The active sessions of a user, most recently seen first. */
export const listSessions = (sql: Sql, userId: string): Promise<SessionRow[]> => sql.rows(LIST, { userId });

const LIST_OF_PROVIDERS = statement<ProviderSessionView, { userId: string }>(
  'sessions.of_providers',
  `select v.id, p.issuer as provider, :userId as user_id, v.expires_at, v.created_at, v.last_seen_at as updated_at
     from provider_session p join (select ${COLUMNS} from session s where s.user_id = :userId and s.expires_at > now()) v
       on v.id = p.session_id
    order by v.last_seen_at desc, v.id`,
);

/** The active sessions of a user that began at a provider. */
export const listProviderSessions = (sql: Sql, userId: string): Promise<ProviderSessionView[]> =>
  sql.rows(LIST_OF_PROVIDERS, { userId });

interface Which {
  userId: string;
  /** One session; null for all. */
  sessionId: string | null;
  /** The session that stays. */
  keptId: string | null;
}

const DELETE = statement<SessionRow, Which>(
  'sessions.delete',
  `delete from session s where s.user_id = :userId and (:sessionId::text is null or s.id = :sessionId)
      and (:keptId::text is null or s.id <> :keptId) returning ${COLUMNS}`,
);

/** Ends one session or all sessions of a user. Returns the deleted sessions. */
export const deleteSessions = (sql: Sql, which: Which): Promise<SessionRow[]> => sql.rows(DELETE, which);
