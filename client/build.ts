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
/** Only types: nothing of it exists at run time. */
const TYPES_ONLY = ['router.js', 'views.js'];
const ALLOWED_IMPORTS = /^(\.\/[a-z]+\.js|@trpc\/(client|server)(\/[a-z-]+)?)$/;

const out = await mkdtemp(join(tmpdir(), 'parley-client-'));
try {
  execFileSync(
    process.execPath,
    [findCompiler(), '-p', join(client, 'tsconfig.build.json'), '--outDir', out],
    { stdio: 'inherit' },
  );
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  const compiled = join(out, 'client', 'src');
  for (const name of (await readdir(compiled)).sort()) {
    if (TYPES_ONLY.includes(name)) continue;
    const text = withJsImports(await readFile(join(compiled, name), 'utf8'));
    requireSelfContained(name, text);
    await writeFile(join(dist, name), text);
  }
} finally {
  await rm(out, { recursive: true, force: true });
}

function findCompiler(): string {
  return join(client, '..', 'node_modules', 'typescript', 'lib', 'tsc.js');
}

/** Declarations keep the names of the sources; those of the emitted files are understood everywhere. */
function withJsImports(text: string): string {
  return text.replace(/(['"])(\.\/[a-z]+)\.ts\1/g, '$1$2.js$1');
}

function requireSelfContained(name: string, text: string) {
  for (const [, specifier = ''] of text.matchAll(/(?:\bfrom |\bimport\(|\bimport )['"]([^'"]+)['"]/g)) {
    if (!ALLOWED_IMPORTS.test(specifier)) throw new Error(`${name} would import ${specifier}.`);
  }
}
