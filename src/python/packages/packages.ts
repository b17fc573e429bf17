import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chmod, mkdir, readdir, rename, rm, statfs, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { bound } from '../../core/work.ts';
import type { Log } from '../environment.ts';
import {
  fallSilent,
  isSilent,
  isThere,
  readLog,
  readReport,
  siteOf,
  unlessOutrun,
  usedAt,
} from './packages.folder.ts';
import { openQueue } from './packages.queue.ts';

const INSTALLER = join(import.meta.dirname, '../host/installer/install.py');
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
   * used up, the limit is six hours. The remains of failures are kept for one day at most.
   */
  sweep(wanted: string[][], unusedMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface PackagesOptions {
  /** Holds a folder for each set. */
  folder: string;
  /** The interpreter for the sets, and a text that changes when existing sets no longer fit. */
  base(): Promise<{ python: string; mark: string }>;
  log: Log;
  /** How much all sets may take on the disk. */
  maxBytes?: number | undefined;
}

export function openPackages(options: PackagesOptions): Packages {
  return new PackageSets(options);
}

const ABSENT: PackagesState = { state: 'absent', detail: '' };

class PackageSets implements Packages {
  readonly #root: string;
  readonly #base: PackagesOptions['base'];
  readonly #log: Log;
  readonly #maxBytes: number;
  readonly #queue = openQueue<PackagesState>(AT_ONCE);
  /** When the use of a set was last recorded on the disk, by its folder. */
  readonly #noted = new Map<string, number>();
  readonly #closing = new AbortController();

  constructor({ folder: root, base, log, maxBytes = MAX_BYTES }: PackagesOptions) {
    this.#root = root;
    this.#base = base;
    this.#log = log;
    this.#maxBytes = maxBytes;
  }

  async find(requirements: string[]): Promise<string | undefined> {
    return this.#findIn(await this.#folderOf(requirements));
  }

  async look(requirements: string[]): Promise<PackagesState> {
    return this.#lookIn(await this.#folderOf(requirements));
  }

  async install(requirements: string[], person = ''): Promise<PackagesState> {
    const folder = await this.#folderOf(requirements);
    if (await this.#findIn(folder)) return this.#lookIn(folder);
    return (
      (await this.#queue.join(
        folder,
        person,
        bound(() => this.#run(folder, requirements)),
      )) ?? ABSENT
    );
  }

  async log(requirements: string[]): Promise<string> {
    return readLog(await this.#folderOf(requirements));
  }

  async sweep(wanted: string[][], unusedMs: number): Promise<void> {
    const kept = new Set(await Promise.all(wanted.map((one) => this.#folderOf(one))));
    const isCrowded = (await this.#room()) < MAX_SET_BYTES;
    const unusedSetMs = isCrowded ? Math.min(unusedMs, CROWDED_UNUSED_MS) : unusedMs;
    const failureMs = Math.min(unusedMs, FAILURE_KEPT_MS);
    for (const name of await readdir(this.#root).catch(() => [])) {
      const folder = join(this.#root, name);
      const [, since] = GONE.exec(name) ?? [];
      if (since === undefined) {
        if (kept.has(folder)) continue;
        const isWhole = await isThere(siteOf(folder));
        await this.#removeUnused(folder, isWhole ? unusedSetMs : failureMs).catch(unlessOutrun);
      } else if (Date.now() - Number(since) > REMOVAL_MS) await rm(folder, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue.close();
  }

  async #folderOf(requirements: string[]): Promise<string> {
    const { mark } = await this.#base();
    const hash = createHash('sha256').update(JSON.stringify([mark, ...requirements]));
    return join(this.#root, hash.digest('hex').slice(0, 32));
  }

  /** Also records the use of the set: a running sweep sees the record and keeps the set. */
  async #findIn(folder: string): Promise<string | undefined> {
    const site = siteOf(folder);
    const now = Date.now();
    const isNoted = now - (this.#noted.get(folder) ?? 0) < USE_NOTED_MS;
    try {
      await (isNoted ? access(site) : utimes(site, now / 1000, now / 1000));
    } catch {
      this.#noted.delete(folder);
      return undefined;
    }
    if (!isNoted) this.#noted.set(folder, now);
    return site;
  }

  async #lookIn(folder: string): Promise<PackagesState> {
    if (await this.#findIn(folder)) return { state: 'ready', detail: 'The packages are installed.' };
    const job = this.#queue.find(folder);
    if (job === 'running') return { state: 'installing', detail: 'The packages are being installed.' };
    if (job) return { state: 'installing', detail: 'The packages wait until others are installed.' };
    const report = await readReport(folder);
    if (!report) return ABSENT;
    const { state, detail } = report;
    if (state === 'installing' && (await isSilent(folder))) {
      return {
        state: 'absent',
        detail: 'The installation was cut off. The next call of the tool begins it anew.',
      };
    }
    return { state, detail };
  }

  /** How much of the room for all sets is free. */
  async #room(): Promise<number> {
    const names = await readdir(this.#root).catch(() => []);
    const reports = await Promise.all(names.map((name) => readReport(join(this.#root, name))));
    const ready = reports.filter((report) => report?.state === 'ready');
    return ready.reduce((left, report) => left - Math.max(report?.bytes ?? 0, MIN_SET_BYTES), this.#maxBytes);
  }

  /** Removes a set in one step, unless a process uses it in the meantime. */
  async #removeUnused(folder: string, unusedMs: number): Promise<void> {
    const isUsed = async (at: string) => Date.now() - (await usedAt(at)) < unusedMs;
    if (this.#queue.find(folder) || (await isUsed(folder))) return;
    const gone = `${folder}.${Date.now()}.gone`;
    await rename(folder, gone);
    if (await isUsed(gone)) return rename(gone, folder);
    this.#noted.delete(folder);
    await rm(gone, { recursive: true, force: true });
  }

  /** Runs the installer of a set. */
  async #run(folder: string, requirements: string[]): Promise<PackagesState> {
    const { python } = await this.#base();
    await mkdir(this.#root, { recursive: true });
    // The users of tools need to pass through this folder to the sets.
    await chmod(this.#root, 0o755);
    this.#log.info(`Installing packages for tools: ${requirements.join(', ')}.`);
    const { bavail, bsize } = await statfs(this.#root);
    const free = Math.min(MAX_SET_BYTES, await this.#room(), bavail * bsize - SPARED_BYTES);
    const asked = { folder, requirements, seconds: TIMEOUT_S, bytes: Math.max(0, free) };
    const { signal } = this.#closing;
    const reason = await runInstaller(python, asked, signal);
    if (signal.aborted) return ABSENT;
    const outcome = await outcomeOf(folder, reason);
    if (outcome.state === 'failed')
      this.#log.warn(`Packages for tools were not installed: ${outcome.detail}`);
    return outcome;
  }
}

/**
 * Resolves when the installer has ended, with the reason in case it was cut off: the last line that it wrote to
 * its standard error, or its exit status.
 */
async function runInstaller(python: string, asked: object, signal: AbortSignal): Promise<string> {
  // Runs with the environment variables of the server, because the owner configures pip through them; the
  // installer passes only pip's own variables on.
  const child = spawn(python, ['-I', '-X', 'utf8', INSTALLER, JSON.stringify(asked)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk}`.slice(-1_000);
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  return complaint.trim().split('\n').at(-1) || `exit status ${code}`;
}

/** The outcome that an ended installer has reported. One that was cut off has not reported its end. */
async function outcomeOf(folder: string, reason: string): Promise<PackagesState> {
  const said = await readReport(folder);
  if (said && said.state !== 'installing') return { state: said.state, detail: said.detail };
  await fallSilent(folder);
  return { state: 'failed', detail: `The installation was cut off (${reason}).` };
}
