import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  access,
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  utimes,
} from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../environment.ts';
import { openQueue } from './packages.queue.ts';

const INSTALLER = join(import.meta.dirname, '../host/install.py');
const TIMEOUT_S = 600;
const MAX_SET_BYTES = 2 * 1024 ** 3;
/** The size of all sets together. */
const MAX_BYTES = 20 * 1024 ** 3;
/** Disk space left for other uses, mostly the database. */
const SPARED_BYTES = 1024 ** 3;
/** The smallest size that a set counts with: a small set has many files. */
const MIN_SET_BYTES = 1024 ** 2;
/** Installers load the processor, the disk and the network: two run at a time, and one for each person. */
const AT_ONCE = { running: 2, waiting: 50 };
/** The size of the log's end, which holds the outcome. */
const LOG_BYTES = 64 * 1024;
/** An installer that has been silent for so long counts as ended. */
const SILENCE_MS = 30_000;
/** The precision of the time of last use. */
const USE_NOTED_MS = 3_600_000;
/** The name of a set that is being removed; it holds the time when the removal began. */
const GONE = /\.(\d+)\.gone$/;
/** When room is short, a set that was unused for so long is removed early. */
const CROWDED_UNUSED_MS = 6 * 3_600_000;
/** The log of a failure is kept so long. */
const FAILURE_KEPT_MS = 86_400_000;
/** A removal that began so long ago has ended. A younger removal may still restore the name of the set. */
const REMOVAL_MS = 3_600_000;

/** As `install.py` writes it. */
const Report = z.object({
  state: z.enum(['installing', 'ready', 'failed']),
  detail: z.string(),
  bytes: z.number().default(0),
});

export interface PackagesState {
  /** `absent`: the set was not requested here, or its installation was interrupted. */
  state: 'absent' | 'installing' | 'ready' | 'failed';
  /** In words; empty when absent. */
  detail: string;
}

/**
 * Sets of packages for tools. Each set has a folder named by its content. Tools with the same requirements
 * share a set, and every process of this machine sees it. A set is complete or absent.
 */
export interface Packages {
  /** The folder of a set that is installed; undefined when it is not. */
  find(requirements: string[]): Promise<string | undefined>;
  look(requirements: string[]): Promise<PackagesState>;
  /**
   * Installs a set in the background of the calling process; further calls join the same installation.
   * Resolves with the outcome, or with `absent` when the installation was dropped before it began: the number
   * of waiting sets of one person is bounded.
   *
   * @param person the account that pays for the work; none: the server itself
   */
  install(requirements: string[], person?: string): Promise<PackagesState>;
  /** The end of the output of the latest installation of a set; empty when there was none. */
  log(requirements: string[]): Promise<string>;
  /**
   * Removes unwanted sets that no process of this machine has used for `unusedMs`, and remains of failed and
   * interrupted installations of that age. The time must be longer than a tool's process lives without a
   * call, and at least some hours: no other sign shows that a process still runs. When the room is nearly
   * used up, the limit is six hours, and one day for the remains of failures.
   */
  sweep(wanted: string[][], unusedMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface PackagesOptions {
  folder: string;
  /** The interpreter for the sets, and a text that changes when existing sets no longer fit. */
  base(): Promise<{ python: string; mark: string }>;
  log: Log;
  /** How much all sets may take on the disk. */
  maxBytes?: number | undefined;
}

export function openPackages({ folder, base, log, maxBytes = MAX_BYTES }: PackagesOptions): Packages {
  const queue = openQueue<PackagesState>(AT_ONCE);
  const noted = new Map<string, number>();
  const closing = new AbortController();

  async function placeOf(requirements: string[]): Promise<string> {
    const { mark } = await base();
    const hash = createHash('sha256').update(JSON.stringify([mark, ...requirements]));
    return join(folder, hash.digest('hex').slice(0, 32));
  }

  /** Also records the use of the set: a running sweep sees the record and keeps the set. */
  async function findIn(place: string): Promise<string | undefined> {
    const site = siteOf(place);
    const now = Date.now();
    const isNoted = now - (noted.get(place) ?? 0) < USE_NOTED_MS;
    try {
      await (isNoted ? access(site) : utimes(site, now / 1000, now / 1000));
    } catch {
      noted.delete(place);
      return undefined;
    }
    if (!isNoted) noted.set(place, now);
    return site;
  }

  async function lookIn(place: string): Promise<PackagesState> {
    if (await findIn(place)) return { state: 'ready', detail: 'The packages are installed.' };
    const job = queue.find(place);
    if (job === 'running') return { state: 'installing', detail: 'The packages are being installed.' };
    if (job) return { state: 'installing', detail: 'The packages wait until others are installed.' };
    const report = await readReport(place);
    if (!report) return NOBODY;
    const { state, detail } = report;
    if (state === 'installing' && Date.now() - (await changedAt(stateOf(place))) > SILENCE_MS) {
      return {
        state: 'absent',
        detail: 'The installation was cut off. The next call of the tool begins it anew.',
      };
    }
    return { state, detail };
  }

  /** How much of the room for all sets is free. */
  async function room(): Promise<number> {
    const names = await readdir(folder).catch(() => []);
    const reports = await Promise.all(names.map((name) => readReport(join(folder, name))));
    const ready = reports.filter((report) => report?.state === 'ready');
    return ready.reduce((left, report) => left - Math.max(report?.bytes ?? 0, MIN_SET_BYTES), maxBytes);
  }

  /** Removes a set in one step, unless a process uses it in the meantime. */
  async function removeUnused(place: string, unusedMs: number): Promise<void> {
    const isUsed = async (at: string) => Date.now() - (await usedAt(at)) < unusedMs;
    if (queue.find(place) || (await isUsed(place))) return;
    const gone = `${place}.${Date.now()}.gone`;
    await rename(place, gone);
    if (await isUsed(gone)) return rename(gone, place);
    noted.delete(place);
    await rm(gone, { recursive: true, force: true });
  }

  async function run(place: string, requirements: string[]): Promise<PackagesState> {
    const { python } = await base();
    await mkdir(folder, { recursive: true });
    // The users of tools need to pass through this folder to the sets.
    await chmod(folder, 0o755);
    log.info(`Installing packages for tools: ${requirements.join(', ')}.`);
    // Runs with the environment variables of the server, because the owner configures pip through them; the
    // installer passes only pip's own variables on.
    const { bavail, bsize } = await statfs(folder);
    const bytes = Math.max(0, Math.min(MAX_SET_BYTES, await room(), bavail * bsize - SPARED_BYTES));
    const asked = { folder: place, requirements, seconds: TIMEOUT_S, bytes };
    const child = spawn(python, ['-I', '-X', 'utf8', INSTALLER, JSON.stringify(asked)], {
      stdio: ['ignore', 'ignore', 'pipe'],
      signal: closing.signal,
    });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = `${complaint}${chunk}`.slice(-1_000);
    });
    const code = await new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(null));
      child.once('close', resolve);
    });
    if (closing.signal.aborted) return NOBODY;
    const said = await readReport(place);
    // An interrupted installer has not reported its end.
    const reason = complaint.trim().split('\n').at(-1) || `exit status ${code}`;
    const isCutOff = !said || said.state === 'installing';
    const outcome: PackagesState = isCutOff
      ? { state: 'failed', detail: `The installation was cut off (${reason}).` }
      : { state: said.state, detail: said.detail };
    if (isCutOff) await fallSilent(place);
    if (outcome.state === 'failed') log.warn(`Packages for tools were not installed: ${outcome.detail}`);
    return outcome;
  }

  return {
    find: async (requirements) => findIn(await placeOf(requirements)),
    look: async (requirements) => lookIn(await placeOf(requirements)),
    async install(requirements, person = '') {
      const place = await placeOf(requirements);
      if (await findIn(place)) return lookIn(place);
      return (await queue.join(place, person, () => run(place, requirements))) ?? NOBODY;
    },
    async log(requirements) {
      const file = await open(join(await placeOf(requirements), 'log')).catch(() => undefined);
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
    },
    async sweep(wanted, unusedMs) {
      const kept = new Set(await Promise.all(wanted.map(placeOf)));
      const isCrowded = (await room()) < MAX_SET_BYTES;
      const unusedSetMs = isCrowded ? Math.min(unusedMs, CROWDED_UNUSED_MS) : unusedMs;
      const failureMs = Math.min(unusedMs, FAILURE_KEPT_MS);
      for (const name of await readdir(folder).catch(() => [])) {
        const place = join(folder, name);
        const [, since] = GONE.exec(name) ?? [];
        if (since === undefined) {
          if (kept.has(place)) continue;
          const isWhole = await isThere(siteOf(place));
          await removeUnused(place, isWhole ? unusedSetMs : failureMs).catch(unlessOutrun);
        } else if (Date.now() - Number(since) > REMOVAL_MS) await rm(place, { recursive: true, force: true });
      }
    },
    async close() {
      closing.abort();
      await queue.close();
    },
  };
}

const NOBODY: PackagesState = { state: 'absent', detail: '' };
const siteOf = (place: string) => join(place, 'site');
const stateOf = (place: string) => join(place, 'state.json');

/** Makes the installer count as silent for a while. An installer that begins meanwhile is seen at once. */
async function fallSilent(place: string): Promise<void> {
  const then = (Date.now() - SILENCE_MS - 1_000) / 1000;
  await utimes(stateOf(place), then, then).catch(() => {});
}

/** The last report of the installer of a set; undefined when there was none. */
async function readReport(place: string): Promise<z.infer<typeof Report> | undefined> {
  const text = await readFile(stateOf(place), 'utf8').catch(() => '');
  if (text === '') return undefined;
  const report = Report.parse(JSON.parse(text));
  return { ...report, detail: withoutCredentials(report.detail) };
}

/**
 * The reader of the log is not the owner who configured the package index. The address of the index may hold
 * a token in a place that pip does not mask.
 */
const withoutCredentials = (text: string) =>
  text
    .replace(/(https?:\/\/)[^\s/@]{1,1000}@/g, '$1****@')
    .replace(/(https?:\/\/[^\s?]{1,1000}\?)[^\s#]{1,1000}/g, '$1****');

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

const changedAt = async (path: string) => (await stat(path)).mtimeMs;

/** The time of the last use of a set; for an incomplete set, the last sign of life of its installer. */
const usedAt = (place: string) =>
  changedAt(siteOf(place))
    .catch(() => changedAt(stateOf(place)))
    .catch(() => changedAt(place));

/** Another process has removed the set or made it anew in the meantime. */
function unlessOutrun(error: NodeJS.ErrnoException): void {
  if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code ?? '')) throw error;
}
