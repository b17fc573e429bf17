import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../../bench/support/child.ts';
import type { WorkerOptions } from './worker.ts';

/** Starts a process of clients. Its people come in a file, since a command line has no room for thousands. */
export async function startWorker(options: WorkerOptions): Promise<Child<null>> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-soak-'));
  try {
    const path = join(folder, 'options.json');
    await writeFile(path, JSON.stringify(options));
    return await startChild<null>('../soak/load/worker.ts', 'load', path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
