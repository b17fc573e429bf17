import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { bundleBoard } from './package.board.ts';

/**
 * Makes what `npm pack` puts into the package of the server (`prepack`): the page, and `lib` with the sources as JavaScript, because
 * Node refuses to strip types below `node_modules`. Each module becomes one file in the same place: the program finds its Python
 * files, its migrations and the page by their paths.
 */

const root = join(import.meta.dirname, '..');
const lib = join(root, 'lib');

const out = await mkdtemp(join(tmpdir(), 'parley-package-'));
try {
  run(join(root, 'web', 'build.ts'), '--strict');
  const compiler = join(root, 'node_modules', 'typescript', 'lib', 'tsc.js');
  run(compiler, '-p', join(root, 'deploy', 'tsconfig.package.json'), '--outDir', out, '--checkers', '1');
  await rm(lib, { recursive: true, force: true });
  await cp(join(out, 'src'), lib, { recursive: true });
  await cp(join(root, 'src'), lib, { recursive: true, filter: (path) => isPacked(basename(path)) });
  await bundleBoard(join(out, 'src/board/process/main.js'), join(lib, 'board/process'));
  await chmod(join(lib, 'start', 'parley.js'), 0o755);
} finally {
  await rm(out, { recursive: true, force: true });
}

/** Its output goes to standard error: standard output belongs to the answer of `npm pack --json`. */
function run(...args: string[]): void {
  execFileSync(process.execPath, args, { stdio: ['ignore', 2, 2], cwd: root });
}

function isPacked(name: string): boolean {
  return !name.endsWith('.ts') && name !== '__pycache__' && !name.startsWith('.');
}
