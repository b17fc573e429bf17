import { cp, mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const HOME = join(root, 'node_modules', 'node-llama-cpp');
/** The library runs this module in a process of its own, to try whether its binary works here. */
const TRIAL = 'dist/bindings/utils/testBindingBinary.js';
/** What the library reads at run time. */
const FILES = ['package.json', 'LICENSE', 'bins', 'llama/binariesGithubRelease.json'];
/** For fetching models and building binaries, which the server never does. */
const UNUSED = /^(ipull|cmake-js|simple-git)$/;

/**
 * Bundles the process of the model on board with node-llama-cpp. As a dependency of the package, npm would also install the binaries of
 * that library for graphics cards (670 MB), since it reads `overrides` only of the project that it installs into.
 *
 * @param entry the compiled module of the process
 * @param folder for the bundle and what it reads; replaced
 */
export async function bundleBoard(entry: string, folder: string): Promise<void> {
  const library = join(folder, 'node-llama-cpp');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const name of FILES) await cp(join(HOME, name), join(library, name), { recursive: true });
  await bundle(entry, join(folder, 'main.js'), './node-llama-cpp/');
  await bundle(join(HOME, TRIAL), join(library, TRIAL), '../../../');
}

/** @param way from the bundle to the folder of the library: its modules look for their files from their own places */
async function bundle(input: string, file: string, way: string): Promise<void> {
  const build = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    // The binaries stay packages of npm.
    external: [/^@node-llama-cpp\//],
    resolve: { modules: [join(root, 'node_modules')] },
    shimMissingExports: true,
    logLevel: 'silent',
    plugins: [
      {
        name: 'library',
        resolveId: (id) => (UNUSED.test(id) ? '\0unused' : null),
        load: (id) => (id === '\0unused' ? 'export default {};' : null),
        transform(code, id) {
          if (!id.startsWith(join(HOME, 'dist/')) || !code.includes('import.meta.url')) return null;
          const place = JSON.stringify(way + relative(HOME, id));
          return code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`);
        },
      },
    ],
  });
  await build.write({ file, format: 'esm', codeSplitting: false });
  await build.close();
}
