import { access, open, readFile, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** The size of the log's end, which holds the outcome. */
const LOG_BYTES = 64 * 1024;
/** An installer that has been silent for so long counts as ended. */
const SILENCE_MS = 30_000;

/** As `install.py` writes it. */
const Report = z.object({
  state: z.enum(['installing', 'ready', 'failed']),
  detail: z.string(),
  bytes: z.number().default(0),
});

/** The packages of a set; there when the set is complete. */
export const siteOf = (folder: string) => join(folder, 'site');
const stateOf = (folder: string) => join(folder, 'state.json');

/** Makes the installer count as silent for a while. An installer that begins meanwhile is seen at once. */
export async function fallSilent(folder: string): Promise<void> {
  const then = (Date.now() - SILENCE_MS - 1_000) / 1000;
  await utimes(stateOf(folder), then, then).catch(() => {});
}

/**
 * The last report of the installer of a set; undefined when there was none. A power failure can leave a file without
 * its content: that counts as none.
 */
export async function readReport(folder: string): Promise<z.infer<typeof Report> | undefined> {
  const text = await readFile(stateOf(folder), 'utf8').catch(() => '');
  const report = Report.safeParse(parse(text)).data;
  return report && { ...report, detail: withoutCredentials(report.detail) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The owner configured the address of the package index, and other people read the log. The address may hold a
 * token in a part that pip does not mask.
 */
const withoutCredentials = (text: string) =>
  text
    .replace(/(https?:\/\/)[^\s/@]{1,1000}@/g, '$1****@')
    .replace(/(https?:\/\/[^\s?]{1,1000}\?)[^\s#]{1,1000}/g, '$1****');

export const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

const changedAt = async (path: string) => (await stat(path)).mtimeMs;

/** The time of the last use of a set; for an incomplete set, the last sign of life of its installer. */
export const usedAt = (folder: string) =>
  changedAt(siteOf(folder))
    .catch(() => changedAt(stateOf(folder)))
    .catch(() => changedAt(folder));

/** Throws the error unless another process has removed the set or made it anew in the meantime. */
export function unlessOutrun(error: NodeJS.ErrnoException): void {
  if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code ?? '')) throw error;
}

/** The end of the output of the latest installation of a set; empty when there was none. */
export async function readLog(folder: string): Promise<string> {
  const file = await open(join(folder, 'log')).catch(() => undefined);
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - LOG_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const text = buffer.toString('utf8', 0, bytesRead);
    return withoutCredentials(start > 0 ? text.slice(text.indexOf('\n') + 1) : text);
  } finally {
    await file.close();
  }
}

/** Whether the installer of a set has shown no sign of life for a while. */
export const isSilent = async (folder: string) =>
  Date.now() - (await changedAt(stateOf(folder))) > SILENCE_MS;
