import { keepSweeping } from '../../core/sweep.ts';
import type { Database } from '../../database/sql.ts';
import type { Python } from '../../python/pool.ts';
import { listWantedPackages } from './install.repository.ts';

const SWEEP_MS = 3_600_000;
/** Far longer than a tool's process lives without a call, and long enough for an author to undo a change. */
const UNUSED_MS = 7 * 86_400_000;

/** Removes packages of this machine that no tool requires and that were not used for a week. */
export async function sweepPackages(sql: Database, python: Python, unusedMs = UNUSED_MS): Promise<void> {
  // The names of sets depend on the interpreter: while it is unknown, the wanted sets are unknown too.
  if (python.state().state !== 'ready') return;
  await python.packages.sweep(await listWantedPackages(sql), unusedMs);
}

/** Sweeps every hour, in the background. */
export const keepPackagesSwept = (
  { sql, python }: { sql: Database; python: Python },
  onError: (error: unknown) => void,
): { close(): Promise<void> } => keepSweeping(SWEEP_MS, () => sweepPackages(sql, python), onError);
