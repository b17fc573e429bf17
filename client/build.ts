import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes `dist`: the client's modules as plain JavaScript and declarations. The compiler reads the server's types on the
 * way, but nothing of them may be left behind: whoever installs the package has no server.
 */

const client = import.meta.dirname;
const dist = join(client, 'dist');
const compiler = join(client, '..', 'node_modules', 'typescript', 'lib', 'tsc.js');

const out = await mkdtemp(join(tmpdir(), 'parley-client-'));
try {
  // One checker: several would each read the types of the whole server.
  const options = ['-p', join(client, 'tsconfig.build.json'), '--outDir', out, '--checkers', '1'];
  execFileSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
  await mkdir(dist, { recursive: true });
  // Declarations import nothing but each other, so that a consumer's compiler has no other package to read.
  const declared = await copyReachable('index.d.ts', '.d.ts', []);
  const modules = await copyReachable('index.js', '.js', ['@trpc/client', '@trpc/server/observable']);
  const current = new Set([...declared, ...modules]);
  for (const name of await readdir(dist)) if (!current.has(name)) await rm(join(dist, name));
} finally {
  await rm(out, { recursive: true, force: true });
}

/**
 * Copies a module and all that it imports, and refuses imports of other packages than those allowed. A module that has not changed is
 * left alone: a program may be reading it.
 *
 * @returns the names of the modules
 */
async function copyReachable(entry: string, extension: string, allowed: string[]): Promise<Set<string>> {
  const names = new Set([entry]);
  for (const name of names) {
    const text = withJsImports(await readFile(join(out, 'client', 'src', name), 'utf8'));
    const target = join(dist, name);
    const present = await readFile(target, 'utf8').catch(() => undefined);
    if (text !== present) await writeFile(target, text);
    for (const [, specifier = ''] of text.matchAll(/(?:\bfrom |(?<!['"])\bimport ?\(?)['"]([^'"]+)['"]/g)) {
      const local = /^\.\/([a-z]+)\.js$/.exec(specifier)?.[1];
      if (local) names.add(local + extension);
      else if (!allowed.includes(specifier)) throw new Error(`${name} would import ${specifier}.`);
    }
  }
  return names;
}

/** Declarations keep the names of the sources; those of the emitted files are understood everywhere. */
function withJsImports(text: string): string {
  return text.replace(/(['"])(\.\/[a-z]+)\.ts\1/g, '$1$2.js$1');
}
