import { nowSeconds } from '../../core/time.ts';
import { type Sql, statement } from '../../database/sql.ts';

/** A person as an issuer identifies them. */
export interface Subject {
  issuer: string;
  subject: string;
}

const FIND = statement<{ user_id: string }, { issuer: string; subject: string }>(
  'identity.find',
  'select user_id from identity where issuer = :issuer and subject = :subject',
);

/** The account of a person; null if the person has none. */
export async function findIdentity(sql: Sql, { issuer, subject }: Subject): Promise<string | null> {
  const [row] = await sql.rows(FIND, { issuer, subject });
  return row?.user_id ?? null;
}

const ADD = statement<{ user_id: string }, { issuer: string; subject: string; userId: string; at: number }>(
  'identity.add',
  `insert into identity (issuer, subject, user_id, created_at) values (:issuer, :subject, :userId, :at)
   on conflict do nothing returning user_id`,
);

/** Binds a person to an account. False if the person is already bound to one. */
export async function addIdentity(sql: Sql, { issuer, subject }: Subject, userId: string): Promise<boolean> {
  return (await sql.rows(ADD, { issuer, subject, userId, at: nowSeconds() })).length > 0;
}

const ADD_SESSION = statement<
  never,
  { sessionId: string; issuer: string; subject: string; sid: string | null }
>(
  'provider_session.add',
  `insert into provider_session (session_id, issuer, subject, sid)
   select id, :issuer, :subject, :sid from session where id = :sessionId`,
);

/** Stores the provider at which a session began. */
export async function addProviderSession(
  sql: Sql,
  sessionId: string,
  { issuer, subject }: Subject,
  sid: string | null,
): Promise<void> {
  await sql.rows(ADD_SESSION, { sessionId, issuer, subject, sid });
}

// A session without a provider's session id ends with all sessions of its person.
const END_SESSIONS = statement<
  { id: string; user_id: string },
  { issuer: string; subject: string | null; sid: string | null }
>(
  'provider_session.end',
  `delete from session s using provider_session p
    where p.session_id = s.id and p.issuer = :issuer
      and (:subject::text is null or p.subject = :subject)
      and (:sid::text is null or p.sid = :sid or (p.sid is null and :subject::text is not null))
   returning s.id, s.user_id`,
);

/** Ends the sessions of a person, or the one session that the provider names. Returns the ended sessions. */
export const endProviderSessions = (
  sql: Sql,
  logout: { issuer: string; subject: string | null; sid: string | null },
) => sql.rows(END_SESSIONS, { issuer: logout.issuer, subject: logout.subject, sid: logout.sid });
