import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** A project outside of the repository with the packed client installed. */
export interface Consumer {
  folder: string;
  /** The names of the files in the tarball. */
  packed: string[];
  /** The errors of the compiler in modules of the project; empty when there are none. */
  typeCheck(sources: Record<string, string>, options?: Record<string, unknown>): Promise<string>;
  remove(): Promise<void>;
}

export async function installConsumer(): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-consumer-'));
  const pack = ['pack', '--workspace', 'client', '--pack-destination', folder, '--json'];
  const { stdout } = await run('npm', pack, { cwd: root });
  // The build of `prepack` may print before the answer.
  const [tarball] = Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))) as [Tarball];
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  // The compiler, a peer dependency of tRPC, is that of the repository.
  const install = ['install', '--omit=peer', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', [...install, join(folder, tarball.filename)], { cwd: folder });

  return {
    folder,
    packed: tarball.files.map(({ path }) => path),
    async typeCheck(sources, options = {}) {
      const files = Object.keys(sources);
      for (const name of files) await writeFile(join(folder, name), sources[name] ?? '');
      const compilerOptions = { ...STRICT, ...options };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      const compiler = join(root, 'node_modules', 'typescript', 'lib', 'tsc.js');
      return run(process.execPath, [compiler, '-p', folder]).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      );
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
}

interface Tarball {
  filename: string;
  files: { path: string }[];
}

const STRICT = {
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  target: 'es2022',
  module: 'nodenext',
  types: [],
};

/** The options of a project with the types of Node.js instead of the DOM. */
export const NODE_TYPES = {
  lib: ['es2022'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules', '@types')],
};
