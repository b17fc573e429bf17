import { statement } from '../database/sql.ts';

export interface Variables {
  variables: Record<string, string>;
}

export const READ = statement<Variables, { userId: string }>(
  'variables.read',
  'select variables from users where id = :userId',
);

export const REPLACE = statement<Variables, { userId: string; variables: string }>(
  'variables.replace',
  'update users set variables = :variables::jsonb where id = :userId returning variables',
);
