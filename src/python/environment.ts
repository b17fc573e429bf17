import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { access, constants, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { whileLocked } from './environment.lock.ts';

const run = promisify(execFile);

const REQUIREMENTS = join(import.meta.dirname, 'host', 'requirements.txt');
const MARKER = 'made-from';
const OLDEST = [3, 10] as const;
/** Tried in this order. The absolute paths find a system interpreter that a version manager hides. */
const CANDIDATES = [
  'python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python', '/usr/bin/python3',
]; // biome-ignore format: one list, one look

export interface Environment {
  /** The interpreter to run. */
  python: string;
  /** One sentence that says where the interpreter was found. */
  origin: string;
}

export interface Log {
  info(message: string): void;
  warn(message: string): void;
  /** Reports the progress of a long task by the seconds so far. The returned function ends the report. */
  progress?: ((describe: (seconds: number) => string) => () => void) | undefined;
}

/** Why Python is unavailable to tools, and the remedy, in one or two sentences. */
class EnvironmentError extends Error {}

interface Interpreter {
  path: string;
  version: string;
  /** Major version of the installed Pydantic; 0 when Pydantic is not installed. */
  pydantic: number;
}

/**
 * Prepares the environment in `folder`. It is made anew when it is absent, incomplete, or made from other
 * requirements or another interpreter. Without a network, an interpreter that has Pydantic 2 is used as it
 * is. The first preparation takes seconds to minutes. Throws EnvironmentError.
 */
export async function prepareEnvironment(
  folder: string,
  interpreter: string | undefined,
  log: Log,
  signal: AbortSignal,
): Promise<Environment> {
  const made: Environment = { python: pythonIn(folder), origin: `environment in ${folder}` };
  // An existing environment is used without starting an interpreter: that would take most of the start time.
  const mark = await markOf(interpreter);
  if (await isMadeFrom(folder, mark)) return made;
  const found = await findInterpreters(interpreter, signal);
  const base = found[0];
  if (!base) {
    const wanted = `Python ${OLDEST.join('.')} or newer`;
    throw new EnvironmentError(
      interpreter
        ? `PYTHON is set to ${interpreter}, which is not ${wanted} that starts. Correct or unset it.`
        : `No ${wanted} was found. Install one (Debian: apt install python3 python3-venv) or set PYTHON to it.`,
    );
  }
  try {
    await mkdir(dirname(folder), { recursive: true });
    await whileLocked(`${folder}.lock`, signal, async () => {
      // Another process may have made it meanwhile.
      if (!(await isMadeFrom(folder, mark))) await make(folder, base, mark, log, signal);
    });
    return made;
  } catch (cause) {
    signal.throwIfAborted();
    const reason = cause instanceof Error ? cause.message : String(cause);
    const ready = found.find((one) => one.pydantic === 2);
    if (!ready) {
      throw new EnvironmentError(
        `The Python environment could not be made: ${reason} Mend that (a network or a package index for pip, ` +
          'Debian: apt install python3-venv) or install Pydantic 2 for the interpreter.',
        { cause },
      );
    }
    log.warn(
      `The Python environment could not be made: ${reason} Using ${ready.path}, which has Pydantic 2.`,
    );
    return {
      python: ready.path,
      origin: `${ready.path} as it is, because the environment could not be made`,
    };
  }
}

async function findInterpreters(wanted: string | undefined, signal: AbortSignal): Promise<Interpreter[]> {
  const probe = [
    'import sys, json',
    'try: import pydantic; p = pydantic.VERSION',
    'except Exception: p = "0"',
    'print(json.dumps([sys.executable, "%d.%d.%d" % sys.version_info[:3], p]))',
  ].join('\n');
  const answers = await Promise.all(
    (wanted ? [wanted] : CANDIDATES).map(async (command) => {
      try {
        // Starting a process that cannot run costs as much as one that can.
        if (isAbsolute(command)) await access(command, constants.X_OK);
        const { stdout } = await run(command, ['-I', '-c', probe], { signal, timeout: 20_000 });
        const [path, version, pydantic] = JSON.parse(stdout) as [string, string, string];
        return { path, version, pydantic: Number.parseInt(pydantic, 10) };
      } catch {
        return undefined;
      }
    }),
  );
  const unique = new Map(answers.filter((one) => one !== undefined).map((one) => [one.path, one]));
  return [...unique.values()].filter(({ version }) => isRecent(version));
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === OLDEST[0] && minor >= OLDEST[1];
}

/** The mark of a usable environment: what it was made from. */
async function markOf(interpreter: string | undefined): Promise<string> {
  const hash = createHash('sha256').update(await readFile(REQUIREMENTS));
  return hash.update(`\n${interpreter ?? ''}`).digest('hex');
}

/** The link of a removed interpreter points to no file. Its environment is not used. */
async function isMadeFrom(folder: string, mark: string): Promise<boolean> {
  const [found] = await Promise.all([
    readFile(join(folder, MARKER), 'utf8'),
    access(pythonIn(folder), constants.X_OK),
  ]).catch(() => ['']);
  return found === mark;
}

const pythonIn = (folder: string) => join(folder, 'bin', 'python');

/**
 * Made beside its final path and moved there when complete, so that other processes never see an incomplete
 * environment.
 */
async function make(
  folder: string,
  base: Interpreter,
  mark: string,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const draft = `${folder}.${process.pid}.tmp`;
  const output = openOutput(`${folder}.log`, await countRequirements());
  const endProgress = log.progress?.((seconds) => `  Python environment: ${output.describe()}, ${seconds} s`);
  await removeDrafts(folder);
  await mkdir(draft, { recursive: true });
  try {
    log.info(
      `Making the Python environment for tools in ${folder} (Python ${base.version}); this is done once. ` +
        `What pip says goes to ${folder}.log.`,
    );
    const python = pythonIn(draft);
    const install = ['install', '--disable-pip-version-check', '--no-input', '--progress-bar', 'off', '-r'];
    try {
      await runLogged(base.path, ['-m', 'venv', draft], output, signal);
      await runLogged(python, ['-m', 'pip', ...install, REQUIREMENTS], output, signal);
    } catch (cause) {
      signal.throwIfAborted();
      log.warn('That failed; trying with the pip of the interpreter.');
      await runLogged(base.path, ['-m', 'venv', '--clear', '--without-pip', draft], output, signal);
      await runLogged(
        base.path,
        ['-m', 'pip', '--python', python, ...install, REQUIREMENTS],
        output,
        signal,
      ).catch(() => Promise.reject(cause));
    }
    // The user of a tool reads the environment too, whatever the umask of the server.
    await runLogged('chmod', ['-R', 'a+rX', draft], output, signal);
    await writeFile(join(draft, MARKER), mark);
    await moveIntoPlace(draft, folder, mark);
    log.info('The Python environment is ready.');
  } finally {
    endProgress?.();
    output.file.end();
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes the drafts that killed servers left. Only the holder of the lock makes a draft, so none is in use. */
async function removeDrafts(folder: string): Promise<void> {
  const [place, name] = [dirname(folder), basename(folder)];
  const drafts = (await readdir(place)).filter(
    (entry) => entry.startsWith(`${name}.`) && /\.\d+\.tmp(\.old)?$/.test(entry),
  );
  await Promise.all(drafts.map((entry) => rm(join(place, entry), { recursive: true, force: true })));
}

/**
 * Replaces an environment made from other requirements. An environment of the same requirements that another
 * process made meanwhile stays: it is in use.
 */
export async function moveIntoPlace(draft: string, folder: string, mark: string): Promise<void> {
  if (await isMadeFrom(folder, mark)) return;
  const old = `${draft}.old`;
  await rename(folder, old).catch(() => {});
  await rename(draft, folder).catch(async (error: unknown) => {
    if (!(await isMadeFrom(folder, mark))) throw error;
  });
  await rm(old, { recursive: true, force: true });
}

interface Output {
  file: WriteStream;
  add(line: string): void;
  /** Describes the progress. */
  describe(): string;
}

/** Writes the output of the commands to a file. A full disk must not end the server. */
function openOutput(path: string, packages: number): Output {
  const file = createWriteStream(path).on('error', () => {});
  let collected = 0;
  let isInstalling = false;
  return {
    file,
    add(line) {
      file.write(`${line}\n`);
      if (line.startsWith('Collecting ')) collected += 1;
      if (line.startsWith('Installing collected')) isInstalling = true;
    },
    describe: () =>
      isInstalling
        ? 'installing packages'
        : `${Math.min(collected, packages)} of ${packages} packages collected`,
  };
}

const countRequirements = async () =>
  (await readFile(REQUIREMENTS, 'utf8')).split('\n').filter((line) => /^\w/.test(line)).length;

/** Runs a command with the environment variables of the server: the owner configures pip through them. */
async function runLogged(
  command: string,
  args: string[],
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], signal });
  const complaints: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => output.add(line.trim()));
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (!line.trim()) return;
    output.add(line.trim());
    complaints.push(line.trim());
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return;
  const last = complaints.findLast((line) => line.startsWith('ERROR:')) ?? complaints.at(-1);
  throw new Error(`${args.slice(0, 2).join(' ')} ended with ${code}${last ? ` (${last})` : ''}.`);
}
