import { nowSeconds } from '../../core/time.ts';
import { type Sql, statement } from '../../database/sql.ts';

/** A person as somebody else knows them. */
export interface Subject {
  issuer: string;
  subject: string;
}

const FIND = statement<{ user_id: string }>(
  'identity.find',
  'select user_id from identity where issuer = $1 and subject = $2',
);

/** The account of a person; null when they have none. */
export async function findIdentity(sql: Sql, { issuer, subject }: Subject): Promise<string | null> {
  const [row] = await sql.rows(FIND, [issuer, subject]);
  return row?.user_id ?? null;
}

const ADD = statement<{ user_id: string }>(
  'identity.add',
  `insert into identity (issuer, subject, user_id, created_at) values ($1, $2, $3, $4)
   on conflict do nothing returning user_id`,
);

/** Binds a person to an account. False when they are bound to one already. */
export async function addIdentity(sql: Sql, { issuer, subject }: Subject, userId: string): Promise<boolean> {
  return (await sql.rows(ADD, [issuer, subject, userId, nowSeconds()])).length > 0;
}

const ADD_SESSION = statement(
  'provider_session.add',
  `insert into provider_session (session_id, issuer, subject, sid)
   select id, $2, $3, $4 from session where id = $1`,
);

/** Notes where a session began. */
export async function addProviderSession(
  sql: Sql,
  sessionId: string,
  { issuer, subject }: Subject,
  sid: string | null,
): Promise<void> {
  await sql.rows(ADD_SESSION, [sessionId, issuer, subject, sid]);
}

// A session whose own name at the provider is not known ends with all of its person.
const END_SESSIONS = statement<{ id: string; user_id: string }>(
  'provider_session.end',
  `delete from session s using provider_session p
    where p.session_id = s.id and p.issuer = $1
      and ($2::text is null or p.subject = $2)
      and ($3::text is null or p.sid = $3 or (p.sid is null and $2::text is not null))
   returning s.id, s.user_id`,
);

/** Ends the sessions of a person, or the one that the provider names, and tells which they were. */
export const endProviderSessions = (
  sql: Sql,
  logout: { issuer: string; subject: string | null; sid: string | null },
) => sql.rows(END_SESSIONS, [logout.issuer, logout.subject, logout.sid]);
