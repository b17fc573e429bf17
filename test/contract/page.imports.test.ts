import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { circlesIn, graphOf } from './circles.ts';

const ROOT = join(import.meta.dirname, '../../web/src');
/** The folders from the lowest to the highest. A folder imports only folders of lower lines. */
const ORDER = [
  ['base'],
  ['api'],
  ['ui'],
  ['routes'],
  ['composer'],
  ['messages'],
  ['account', 'admin', 'channels', 'entrance', 'models', 'tools'],
  ['frame'],
  ['main.tsx'],
];
const MAX_FILES = 20;

const files = globSync('**/*.{ts,tsx,css}', { cwd: ROOT }).sort();
const imports = files.flatMap((file) =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, target = '']) => ({ file, target }),
  ),
);
const ownImports = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => [file, normalize(join(dirname(file), target))] as const);

const topOf = (path: string) => path.split('/', 1)[0] ?? '';
const levelOf = (path: string) => ORDER.findIndex((folders) => folders.includes(topOf(path)));

describe('imports of the page', () => {
  it('are found', () => {
    expect(ownImports.filter(([, target]) => target === 'api/query.ts').length).toBeGreaterThan(50);
  });

  it('name the client and libraries, and nothing of the server', () => {
    const leaves = ([, target]: readonly [string, string]) => !/^(?!\.\.)|^\.\.\/languages\//.test(target);
    expect(ownImports.filter(leaves)).toEqual([]);
    expect(imports.filter(({ target }) => target.startsWith('node:'))).toEqual([]);
  });

  it('go from a folder to lower ones', () => {
    expect([...new Set(files.map(topOf))].sort()).toEqual(ORDER.flat().sort());
    const climbs = ([file, target]: readonly [string, string]) =>
      topOf(file) !== topOf(target) && levelOf(file) <= levelOf(target);
    expect(ownImports.filter(climbs)).toEqual([]);
  });

  it('make no circle of files', () => {
    expect(circlesIn(graphOf(ownImports))).toEqual([]);
  });

  // The files of a folder stand for themselves beside its sub-folders.
  it('make no circle of the sub-folders of a folder', () => {
    const circlesBelow = (folder: string) => {
      const prefix = folder === '.' ? '' : `${folder}/`;
      const nodeOf = (path: string) => path.slice(prefix.length).split('/', 1)[0] ?? '';
      const edges = ownImports
        .filter((edge) => edge.every((path) => path.startsWith(prefix)))
        .map(([file, target]) => [nodeOf(file), nodeOf(target)] as const);
      return circlesIn(graphOf(edges)).map((circle) => `${folder}: ${circle.join(', ')}`);
    };
    expect([...new Set(files.map(dirname))].flatMap(circlesBelow)).toEqual([]);
  });
});

it(`no folder of the page has more than ${MAX_FILES} files`, () => {
  const counts = Object.groupBy(files, dirname);
  const large = Object.entries(counts).filter(([, held = []]) => held.length > MAX_FILES);
  expect(large.map(([folder]) => folder)).toEqual([]);
});
