import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { EntitySchema } from '@mikro-orm/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { Terms } from '../../src/core/terms.ts';
import type { Noun } from '../../src/noun.ts';
import { nouns } from '../../src/nouns.ts';
import { appRouter } from '../../src/router.ts';
import * as terms from '../../src/terms.ts';
import { createDatabase } from '../support/database.ts';

const SRC = join(import.meta.dirname, '../../src');
const declared: readonly Noun[] = nouns;
const nounOf = (path: string) => path.split('/', 1)[0] ?? '';
const database = await createDatabase();
afterAll(() => database.drop());

/** The exports of the files of this kind, with the noun of their folder. */
async function exportsOf(
  kind: 'router' | 'entity',
): Promise<{ noun: string; name: string; value: unknown }[]> {
  const modules = globSync(`*/**/*.${kind}.ts`, { cwd: SRC }).map(async (path) => {
    const exported: Record<string, unknown> = await import(join(SRC, path));
    return Object.entries(exported).map(([name, value]) => ({ noun: nounOf(path), name, value }));
  });
  return (await Promise.all(modules)).flat();
}

describe('the declaration of a noun', () => {
  it('exists for each such folder, under the name of the folder', () => {
    const folders = globSync('*/*.noun.ts', { cwd: SRC });
    for (const path of folders) expect(basename(path)).toBe(`${nounOf(path)}.noun.ts`);
    expect(declared.map(({ name }) => name).sort()).toEqual(folders.map(nounOf).sort());
  });

  it('names every router of its folder', async () => {
    const routers = await exportsOf('router');
    const undeclared = routers.filter(({ noun, value }) => {
      const of = declared.find(({ name }) => name === noun);
      return !Object.values(of?.routers ?? {}).includes(value as never);
    });
    expect(undeclared.map(({ noun, name }) => `${noun}: ${name}`)).toEqual([]);
    expect(Object.keys(appRouter._def.record).length).toBe(routers.length);
  });

  it('names every table of its folder', async () => {
    const entities = (await exportsOf('entity')).filter(({ value }) => value instanceof EntitySchema);
    const undeclared = entities.filter(({ noun, value }) => {
      const of = declared.find(({ name }) => name === noun);
      return !of?.entities?.includes(value as object);
    });
    expect(undeclared.map(({ noun, name }) => `${noun}: ${name}`)).toEqual([]);
    expect(entities.length).toBeGreaterThan(20);
  });

  it('lists the terms of every folder that has terms', () => {
    const folders = globSync('*/*.terms.ts', { cwd: SRC });
    for (const path of folders) expect(basename(path)).toBe(`${nounOf(path)}.terms.ts`);
    expect(Object.keys(terms).sort()).toEqual(folders.map(nounOf).sort());
  });

  it('has rules for the type of resources that its terms name', () => {
    const named = Object.entries<Terms>(terms).map(([noun, { grantable }]) => [noun, grantable]);
    const ruled = declared.map(({ name, grantable }) => [name, grantable?.type]);
    const hasType = ([, type]: (string | undefined)[]) => type !== undefined;
    expect(named.filter(hasType).sort()).toEqual(ruled.filter(hasType).sort());
  });

  it('declares no section and no permission of another noun', () => {
    const given = Object.values<Terms>(terms).flatMap(({ sections = {}, permissions = {} }) => [
      ...Object.keys(sections),
      ...Object.entries(permissions).flatMap(([name, leaves]) =>
        Object.keys(leaves).map((leaf) => `${name}.${leaf}`),
      ),
    ]);
    expect(given.length).toBeGreaterThan(20);
    expect(given).toEqual([...new Set(given)]);
  });

  it('says what happens to rows of an account when it is deleted', async () => {
    const references = await database.query<{ table: string; column: string; isDecided: boolean }>(
      `select c.oid::regclass::text as table, a.attname as column, coalesce(f.confdeltype in ('c', 'n'), true) as "isDecided"
         from pg_class c join pg_attribute a on a.attrelid = c.oid
           left join pg_constraint f on f.conrelid = c.oid and a.attnum = any(f.conkey) and f.confrelid = 'users'::regclass
        where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
          and (f.oid is not null or a.attname in ('user_id', 'actor_id', 'principal_id'))`,
    );
    expect(references.length).toBeGreaterThan(10);
    const undecided = references.flatMap(({ table, column, isDecided }) => {
      const owner = declared.find(({ entities = [] }) =>
        (entities as EntitySchema[]).some(({ meta }) => meta.tableName === table),
      );
      return isDecided && owner?.onAccountDeleted ? [] : [`${owner?.name}: ${table}.${column}`];
    });
    expect(undecided).toEqual([]);
  });
});
