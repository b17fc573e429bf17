import { type Sql, statement } from '../database/sql.ts';
import { groupsOf } from '../groups/groups.policy.ts';

/** What prompts may say of a person. */
export interface PromptUser {
  name: string;
  email: string;
  bio: string | null;
  gender: string | null;
  /** An ISO date. */
  date_of_birth: string | null;
  location: string | null;
  /** An IANA name, as last reported by a client. */
  timezone: string | null;
  /** The names of their groups. */
  groups: readonly string[];
  /** Texts of their own, by key. */
  variables: Readonly<Record<string, string>>;
}

const READ = statement<PromptUser, { userId: string }>(
  'model.prompt_user',
  `select u.name, u.email, u.bio, u.gender, u.date_of_birth, u.timezone, u.variables, u.info ->> 'location' as location,
       coalesce((select json_agg(gp.name order by gp.name) from user_group gp
         where gp.id in (${groupsOf('u.id')})), '[]'::json) as groups
     from users u where u.id = :userId`,
);

export async function readPromptUser(sql: Sql, userId: string): Promise<PromptUser | undefined> {
  const [row] = await sql.rows(READ, { userId });
  return row;
}
