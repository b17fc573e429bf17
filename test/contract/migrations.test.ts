import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Migration } from '@mikro-orm/migrations';
import { describe, expect, it } from 'vitest';
import { readReleases } from '../upgrade/tree.ts';
import { faultsOf } from './expand.ts';

const FOLDER = join(import.meta.dirname, '../../src/database/migrations');

type MadeMigration = (new (...args: never[]) => Migration) & { contractOf?: string };

const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -3))
  .toSorted();
const releases = Object.values(readReleases());
const [firstRelease = ''] = releases;

async function load(name: string): Promise<{ made: MadeMigration; statements: string[] }> {
  const module: Record<string, MadeMigration> = await import(join(FOLDER, `${name}.ts`));
  const made = module[name];
  if (!made) throw new Error(`${name}.ts does not export ${name}`);
  const migration = new made({} as never, {} as never);
  await migration.up();
  return { made, statements: migration.getQueries().map(String) };
}

describe('migrations', () => {
  it('that are released are named by .releases.json in their order', () => {
    expect(names).toEqual(expect.arrayContaining(releases));
    expect(releases).toEqual(releases.toSorted());
  });

  // Migrations before the first release ran on no installation.
  it.each(names.filter((name) => name > firstRelease))(
    '%s leaves what the release before uses',
    async (name) => {
      const { made, statements } = await load(name);
      if (made.contractOf === undefined) {
        expect(faultsOf(statements)).toEqual([]);
        return;
      }
      // What is taken away was replaced by a migration of a release before.
      const replaced = made.contractOf;
      expect(names).toContain(replaced);
      expect(releases.some((last) => last < name && replaced <= last)).toBe(true);
    },
  );

  it('that are older would not all be accepted: the rule sees what they take away', async () => {
    const { statements } = await load('Migration20261122193000_message_authors');
    expect(faultsOf(statements)).toEqual([
      'drop index "message_by_program"',
      'drop index "message_webhook"',
      'alter table "message" drop column "webhook_id"',
    ]);
  });
});

describe('the rule of expand steps', () => {
  it.each([
    'create table "a" ("id" uuid not null, "b" text not null, primary key ("id"))',
    'create index "a_b" on "a" ("b")',
    'alter table "a" add "b" text null',
    'alter table "a" add column if not exists "b" int not null default 0, add "c" numeric(12, 6) null',
    'alter table "a" add constraint "a_b" foreign key ("b") references "b" ("id") not valid',
    'create table "new" ("id" int)\nalter table "new" add constraint "c" check ("id" > 0)\ncreate unique index "u" on "new" ("id")',
    'create or replace function f() returns trigger language plpgsql as $$ begin drop table x; return new; end $$',
    'create trigger "t" before insert on "a" for each row execute function f()',
    'update "a" set "b" = 1 where "b" is null',
    'insert into "a" values (1)',
  ])('accepts %s', (text) => {
    expect(faultsOf(text.split('\n'))).toEqual([]);
  });

  it.each([
    'drop table "a"',
    'drop index "a_b"',
    'delete from "a"',
    'alter table "a" drop column "b"',
    'alter table "a" rename column "b" to "c"',
    'alter table "a" rename to "c"',
    'alter table "a" add "b" text not null',
    'alter table "a" add "b" text null, drop column "c"',
    'alter table "a" add "b" int unique',
    'alter table "a" alter column "b" set not null',
    'alter table "a" alter column "b" drop not null',
    'alter table "a" alter column "b" type text',
    'alter table "a" add constraint "c" check ("b" > 0)',
    'alter table "a" add constraint "c" unique ("b")',
    'create unique index "a_b" on "a" ("b")',
    'truncate "a"',
  ])('refuses %s', (text) => {
    expect(faultsOf([text])).toEqual([text]);
  });
});
