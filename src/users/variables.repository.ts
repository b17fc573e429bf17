import { statement } from '../database/sql.ts';

export interface Variables {
  variables: Record<string, string>;
}

export const READ = statement<Variables>('variables.read', 'select variables from users where id = $1');

export const REPLACE = statement<Variables>(
  'variables.replace',
  'update users set variables = $2::jsonb where id = $1 returning variables',
);
