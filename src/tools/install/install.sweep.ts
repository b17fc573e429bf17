import { keepSweeping } from '../../core/sweep.ts';
import type { Database } from '../../database/sql.ts';
import type { Python } from '../../python/pool.ts';
import { listWantedPackages } from './install.repository.ts';

const SWEEP_MS = 3_600_000;
/** Far longer than any process of a tool lives without a call, and long enough for an author to change their mind. */
const UNUSED_MS = 7 * 86_400_000;

/** Removes packages of this machine that no tool asks for any more and that none has used for a week. */
export async function sweepPackages(sql: Database, python: Python, unusedMs = UNUSED_MS): Promise<void> {
  // What a set is called depends on the interpreter: while that is not known, none is known to be wanted.
  if (python.state().state !== 'ready') return;
  await python.packages.sweep(await listWantedPackages(sql), unusedMs);
}

/** Does so every hour, in the background. */
export const keepPackagesSwept = (
  { sql, python }: { sql: Database; python: Python },
  onError: (error: unknown) => void,
): { close(): Promise<void> } => keepSweeping(SWEEP_MS, () => sweepPackages(sql, python), onError);
