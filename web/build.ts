import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/**
 * Builds the page into `dist` unless it is there and fresh. `npm start` runs this before the server, which serves `dist`.
 * Exits with 0 when the build fails and an older page exists: an old page beats none.
 */

const web = import.meta.dirname;
const root = join(web, '..');
const dist = join(web, 'dist');
const stamp = join(dist, 'sources.sha256');
/** What the page is made of. The lock file stands for all libraries. */
const SOURCES = ['index.html', 'vite.config.ts', 'build.ts', 'src', 'languages', 'public'];
const OTHERS = [join(root, 'package-lock.json'), join(root, 'client', 'src')];
const COMPRESSIBLE = /\.(?:js|css|svg|json|webmanifest|html)$/;
/** Smaller files do not get smaller on the wire. */
const MIN_BYTES = 1024;

const sources = await digestOf([...SOURCES.map((name) => join(web, name)), ...OTHERS]);
const built = await readFile(stamp, 'utf8').catch(() => null);
if (built !== sources) await build();

async function build(): Promise<void> {
  process.stdout.write(
    `  The page is ${built === null ? 'not built yet' : 'older than its sources'}: building it.\n`,
  );
  const startedAtMs = performance.now();
  // The new page replaces the old one at once: a server that runs meanwhile always has a whole one.
  const out = join(web, `.dist-${process.pid}`);
  const old = `${out}-old`;
  // React would be the one for developers where the caller sets another value, as test runners do.
  process.env.NODE_ENV = 'production';
  try {
    const { build: bundle } = await import('vite');
    await bundle({ configFile: join(web, 'vite.config.ts'), logLevel: 'warn', build: { outDir: out } });
    await compress(out);
    await writeFile(join(out, 'sources.sha256'), sources);
    if (existsSync(dist)) await rename(dist, old);
    await rename(out, dist);
    await rm(old, { recursive: true, force: true });
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
    process.stdout.write(`  The page was built in ${seconds} s.\n`);
  } catch (error) {
    await rm(out, { recursive: true, force: true });
    process.stderr.write(`  The page cannot be built: ${(error as Error).message}\n`);
    if (!existsSync(dist)) process.stderr.write('  The server starts without it.\n');
    process.exitCode = process.argv.includes('--strict') ? 1 : 0;
  }
}

/** Writes `.br` and `.gz` beside each file that gets smaller by it. */
async function compress(folder: string): Promise<void> {
  const brotli = promisify(brotliCompress);
  const zip = promisify(gzip);
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const files = (await filesBelow(folder)).filter((file) => COMPRESSIBLE.test(file));
  await Promise.all(
    files.map(async (file) => {
      const bytes = await readFile(file);
      if (bytes.length < MIN_BYTES) return;
      await writeFile(`${file}.br`, await brotli(bytes, { params }));
      await writeFile(`${file}.gz`, await zip(bytes, { level: 9 }));
    }),
  );
}

async function digestOf(paths: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) {
    for (const file of await filesBelow(path)) {
      hash.update(`${relative(root, file)}\0`);
      hash.update(await readFile(file));
    }
  }
  return hash.digest('hex');
}

/** The files below a folder in a fixed order; a file alone is its own list. */
async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null);
  if (!entries) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
