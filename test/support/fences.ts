import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A fenced example of a page: its language, the file name (if given), and its text. */
export interface Fence {
  language: string;
  file: string;
  text: string;
}

/** The fenced examples of a page, in order. */
export async function readFences(page: URL): Promise<Fence[]> {
  const text = await readFile(page, 'utf8');
  return [...text.matchAll(/^```(\w+) ?(\S*)\n(.*?)^```$/gms)].map(
    ([, language = '', file = '', body = '']) => ({ language, file, text: body }),
  );
}

const CLIENT = new URL('../../client/src/index.ts', import.meta.url).href;

/** A program of a page, with the packages that its reader has installed. */
export const installed = (program: string): string =>
  program
    .replace("'@parley/client'", `'${CLIENT}'`)
    .replace("'ws'", `'${import.meta.resolve('ws')}'`)
    .replace("'openai'", `'${import.meta.resolve('openai')}'`)
    .replace("'socket.io-client'", `'${import.meta.resolve('socket.io-client')}'`);

/**
 * Runs the `sh` examples of a page in one shell, like a reader: each sees what earlier ones defined. Named
 * examples are written to their files first.
 *
 * @param path folders that come first on the PATH
 * @returns the output of each `sh` example, with the example that follows it
 */
export async function runFences(
  fences: Fence[],
  options: { folder: string; env: Record<string, string>; path?: string[] },
): Promise<{ printed: string; next: Fence | undefined }[]> {
  const { folder, env, path = [] } = options;
  for (const { file, text } of fences) if (file) await writeFile(join(folder, file), installed(text));
  const numbers = fences.flatMap(({ language, file }, number) =>
    language === 'sh' && !file ? [number] : [],
  );
  const script = numbers.map((number) => `{\n${fences[number]?.text}\n} > out.${number}`).join('\n');
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH: [...path, dirname(process.execPath), process.env.PATH].join(':'), ...env },
  });
  return Promise.all(
    numbers.map(async (number) => ({
      printed: await readFile(join(folder, `out.${number}`), 'utf8'),
      next: fences[number + 1],
    })),
  );
}
