import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { circlesIn, graphOf } from './circles.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Folders that are not nouns. */
const SHARED = ['board', 'core', 'database', 'egress', 'events', 'jobs', 'python', 'telemetry'];
const NO_NOUN = [...SHARED, 'cli', 'doors', 'env', 'start', 'workers'];
/** The maximum number of files; a larger folder should be split. */
const MAX_FILES = 20;

interface Import {
  file: string;
  /** A path from the root for our own files; the name as written for packages. */
  target: string;
}

const IMPORT = /\b(?:from|import)\s*\(?\s*'([^']+)'/g;
/** An SQL statement, or a text that begins like one. */
const SQL =
  /\b(?:statement|plannedAnew)\s*[<(]|\.execute\(|['"`]\s*(?:select|with \w+ as|insert into|update \w+ set|delete from)\b/;

const files = globSync('src/**/*.ts', { cwd: ROOT, exclude: ['src/main.ts'] }).sort();
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const imports: Import[] = files.flatMap((file) =>
  [...textOf(file).matchAll(IMPORT)].map(([, target = '']) => ({
    file,
    target: target.startsWith('.') ? normalize(join(dirname(file), target)) : target,
  })),
);

const folderOf = (path: string) => /^src\/([^/]+)\//.exec(path)?.[1];
const isDoor = (path: string) => folderOf(path) === 'doors';
const isNoun = (path: string) => {
  const folder = folderOf(path);
  return folder !== undefined && !NO_NOUN.includes(folder);
};
const has = (kinds: string) => (path: string) => new RegExp(`(?:^|[./])(?:${kinds})\\.ts$`).test(path);
const isNounFile = has('noun');
const isTerms = has('terms');
const isRouter = has('router|procedure');
const isRepository = has('repository|policy');
const isEntity = has('entity');
const isTrpc = (target: string) => target.startsWith('src/core/trpc/') || target.startsWith('@trpc/');
const isPackage = ({ target }: Import, name: string) => target === name || target.startsWith(`${name}/`);
const found = (rule: (edge: Import) => boolean) => [
  ...new Set(imports.filter(rule).map(({ file, target }) => `${file} -> ${target}`)),
];

/** Exceptions from the rules, with their reasons: an unused exception fails the test as well. */
type Exceptions = Record<string, string>;
const excepted = (exceptions: Exceptions) => Object.keys(exceptions).sort();

describe('imports', () => {
  it('are found', () => {
    expect(found(({ target }) => target === 'src/core/trpc/trpc.ts').length).toBeGreaterThan(3);
    expect(found((edge) => isPackage(edge, '@trpc/server')).length).toBeGreaterThan(1);
  });

  it.each(SHARED)('%s imports no noun and no door', (folder) => {
    expect(
      found(({ file, target }) => folderOf(file) === folder && (isNoun(target) || isDoor(target))),
    ).toEqual([]);
  });

  it('core imports no other folder', () => {
    expect(
      found(
        ({ file, target }) =>
          folderOf(file) === 'core' && target.startsWith('src/') && folderOf(target) !== 'core',
      ),
    ).toEqual([]);
  });

  it('routers import no entity, no repository, no door and no router', () => {
    const isOther = has('router');
    expect(
      found(
        ({ file, target }) =>
          isNoun(file) &&
          isRouter(file) &&
          (isEntity(target) || isRepository(target) || isOther(target) || isDoor(target)),
      ),
    ).toEqual([]);
  });

  it('no other file of a noun and no command imports a door, a router or tRPC', () => {
    expect(
      found(
        ({ file, target }) =>
          (isNoun(file) || folderOf(file) === 'cli') &&
          !isNounFile(file) &&
          !isRouter(file) &&
          (isDoor(target) || isRouter(target) || isTrpc(target)),
      ),
    ).toEqual([]);
  });

  it('schemas import no repository, entity, service or router', () => {
    expect(
      found(
        ({ file, target }) =>
          has('schema')(file) && (isRepository(target) || has('entity|service|router')(target)),
      ),
    ).toEqual([]);
  });

  it('terms import only core, as schemas are made from them while the program loads', () => {
    expect(
      found(
        ({ file, target }) =>
          isTerms(file) &&
          file !== 'src/terms.ts' &&
          target.startsWith('src/') &&
          folderOf(target) !== 'core',
      ),
    ).toEqual([]);
  });

  it('repositories import no service, router or door', () => {
    expect(
      found(
        ({ file, target }) =>
          isRepository(file) && (isDoor(target) || isTrpc(target) || has('service|router')(target)),
      ),
    ).toEqual([]);
  });

  it('doors import no entity and no repository', () => {
    expect(found(({ file, target }) => isDoor(file) && (isEntity(target) || isRepository(target)))).toEqual(
      [],
    );
  });

  it('SQL stands in repositories and policies', () => {
    const exceptions: Exceptions = {
      'src/cli/backup.ts': 'reads a whole database',
      'src/cli/restore.ts': 'writes a whole database',
      'src/jobs/line.ts': 'locks on a connection of its own',
    };
    const isFree = (file: string) => isRepository(file) || file.startsWith('src/database/');
    expect(files.filter((file) => !isFree(file) && SQL.test(textOf(file)))).toEqual(excepted(exceptions));
  });

  it('no files import each other in a circle', () => {
    expect(circlesIn(graphOf(imports.map(({ file, target }) => [file, target])))).toEqual([]);
  });

  /*
   * A noun is a folder of `src` with its sub-folders. Files beside the folders stand for themselves, and so
   * do terms, which import only core. Entities refer to each other like their tables, and are not counted.
   */
  it('no folders import each other in a circle', () => {
    const nodeOf = (path: string) => (isTerms(path) ? path : (folderOf(path) ?? path));
    const edges = imports
      .filter(({ file, target }) => target.startsWith('src/') && !(isEntity(file) && isEntity(target)))
      .map(({ file, target }) => [nodeOf(file), nodeOf(target)] as const);
    expect(circlesIn(graphOf(edges))).toEqual([]);
  });

  it.each([
    ['lucia', /^src\/auth\/sessions\//],
    ['socket.io', /^src\/doors\/socketio\//],
    ['python-shell', /^src\/python\//],
    ['graphile-worker', /^src\/jobs\//],
    ['undici', /^src\/egress\//],
    ['ldapts', /^src\/auth\/ldap\//],
    ['node-llama-cpp', /^src\/board\/process\//],
    ['@aws-sdk', /^src\/files\/store\/bucket\./],
    ['@opentelemetry', /^src\/telemetry\//],
  ])('%s has one place', (name, place) => {
    const edges = imports.filter((edge) => isPackage(edge, name));
    expect(edges.filter(({ file }) => !place.test(file))).toEqual([]);
    expect(edges).not.toEqual([]);
  });

  it('the SDK of buckets is loaded only when a bucket is opened', () => {
    const edges = imports.filter(
      ({ file, target }) => target === 'src/files/store/bucket.ts' && !file.includes('/bucket'),
    );
    expect(edges.map(({ file }) => file)).toEqual(['src/files/store/open.ts']);
    expect(textOf('src/files/store/open.ts')).toContain("await import('./bucket.ts')");
  });

  it('only `transaction` begins a transaction, except in migrations and the backup', () => {
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

  it('only src/database/ writes parameters of statements by number', () => {
    // `$1` is also a group in the replacement of a regular expression.
    const numbered = /^(?!.*\breplace(?:All)?\().*\$\d/m;
    const found = files.filter((file) => numbered.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(found.filter((file) => !file.startsWith('src/database/'))).toEqual([]);
  });

  it('only env.ts reads the environment', () => {
    expect(files.filter((file) => /\bprocess\.env\b/.test(textOf(file)))).toEqual(['src/env.ts']);
  });

  it(`no folder holds more than ${MAX_FILES} files`, () => {
    const exceptions: Exceptions = {
      'src/database/migrations': 'one for each change of the tables',
    };
    const counts = Object.groupBy(files, (file) => dirname(file));
    const large = Object.entries(counts).filter(([, held = []]) => held.length > MAX_FILES);
    expect(large.map(([folder]) => folder).sort()).toEqual(excepted(exceptions));
  });
});
