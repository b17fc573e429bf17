import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** Folders that are no noun. */
const SHARED = ['core', 'database', 'doors', 'egress', 'events', 'jobs', 'python'];

interface Import {
  file: string;
  /** A path from the root for our own files, the package's name as written for others. */
  target: string;
}

const IMPORT = /\b(?:from|import)\s*\(?\s*'([^']+)'/g;

const files = globSync('src/**/*.ts', { cwd: ROOT });
const imports: Import[] = files.flatMap((file) => {
  const source = readFileSync(join(ROOT, file), 'utf8');
  return [...source.matchAll(IMPORT)].map(([, target = '']) => ({
    file,
    target: target.startsWith('.') ? normalize(join(dirname(file), target)) : target,
  }));
});

const folderOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1];
const isNoun = (path: string) => {
  const folder = folderOf(path);
  return folder !== undefined && !SHARED.includes(folder);
};
const isPackage = ({ target }: Import, name: string) => target === name || target.startsWith(`${name}/`);
const found = (rule: (edge: Import) => boolean) =>
  imports.filter(rule).map(({ file, target }) => `${file} -> ${target}`);

describe('imports', () => {
  it('are read at all', () => {
    expect(found(({ target }) => target === 'src/core/trpc.ts').length).toBeGreaterThan(3);
    expect(found((edge) => isPackage(edge, '@trpc/server')).length).toBeGreaterThan(1);
  });

  it.each(['core', 'database', 'egress', 'events', 'jobs', 'python'])(
    '%s knows no noun and no door',
    (folder) => {
      expect(
        found(
          ({ file, target }) => folderOf(file) === folder && (isNoun(target) || folderOf(target) === 'doors'),
        ),
      ).toEqual([]);
    },
  );

  it('routers import no entity, no repository, no door and no router of another noun', () => {
    const forbidden = /\.(entity|repository|router)\.ts$/;
    expect(
      found(
        ({ file, target }) =>
          /\.router\.ts$/.test(file) && (forbidden.test(target) || folderOf(target) === 'doors'),
      ),
    ).toEqual([]);
  });

  it('services import no door, no router and no tRPC', () => {
    expect(
      found((edge) => {
        if (!/\.service\.ts$/.test(edge.file)) return false;
        return (
          folderOf(edge.target) === 'doors' ||
          /\.router\.ts$/.test(edge.target) ||
          edge.target === 'src/core/trpc.ts' ||
          edge.target.startsWith('@trpc/')
        );
      }),
    ).toEqual([]);
  });

  it.each([
    ['lucia', /^src\/auth\/sessions\//],
    ['socket.io', /^src\/doors\/socketio\//],
    ['python-shell', /^src\/python\//],
    ['undici', /^src\/egress\//],
    ['ldapts', /^src\/auth\/ldap\//],
    ['graphile-worker', /^src\/jobs\//],
  ])('%s has one place', (name, place) => {
    const edges = imports.filter((edge) => isPackage(edge, name));
    expect(edges.filter(({ file }) => !place.test(file))).toEqual([]);
    expect(edges).not.toEqual([]);
  });

  it('only `transaction` begins one, apart from migrations and the backup', () => {
    const begins = /\.transactional\(|\.startTransaction\(|\.query\(\s*['"`](begin|start transaction)\b/i;
    const found = files.filter((file) => begins.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(found.filter((file) => !file.startsWith('src/database/migrations/')).toSorted()).toEqual([
      // A snapshot of all tables, on a connection of its own.
      'src/cli/backup.ts',
      // Migrations run in a transaction of the ORM.
      'src/database/orm.ts',
      'src/database/transaction.ts',
    ]);
  });

  it('only env.ts reads the environment', () => {
    const readers = files.filter((file) => /\bprocess\.env\b/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(readers).toEqual(['src/env.ts']);
  });
});
