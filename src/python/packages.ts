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
import type { Log } from './environment.ts';
import { openQueue } from './packages.queue.ts';

const INSTALLER = join(import.meta.dirname, 'host', 'install.py');
const TIMEOUT_S = 600;
const MAX_SET_BYTES = 2 * 1024 ** 3;
/** Of all sets together. */
const MAX_BYTES = 20 * 1024 ** 3;
/** Of the disk, for what else is on it: most often the database. */
const SPARED_BYTES = 1024 ** 3;
/** What each counts for at least: a small one takes many files. */
const MIN_SET_BYTES = 1024 ** 2;
/** Installers load the processor, the disk and the network: not more than two at a time, and one for each person. */
const AT_ONCE = { running: 2, waiting: 50 };
/** Of its end, which says how it went. */
const LOG_BYTES = 64 * 1024;
/** An installer that has given no sign of life for so long is gone. */
const SILENCE_MS = 30_000;
/** How exactly it is known when a set was used last. */
const USE_NOTED_MS = 3_600_000;
/** The name of a set that is being removed: when that began stands in it. */
const GONE = /\.(\d+)\.gone$/;
/** A set that nobody has found for so long goes before its time when there is little room for others. */
const CROWDED_UNUSED_MS = 6 * 3_600_000;
/** What is left of a failure is its log. */
const FAILURE_KEPT_MS = 86_400_000;
/** Whoever began so long ago is gone too. Before that, it may still give the set its name back. */
const REMOVAL_MS = 3_600_000;

/** As `install.py` writes it. */
const Report = z.object({
  state: z.enum(['installing', 'ready', 'failed']),
  detail: z.string(),
  bytes: z.number().default(0),
});

export interface PackagesState {
  /** `absent`: nobody has asked for it here, or whoever did was cut off. */
  state: 'absent' | 'installing' | 'ready' | 'failed';
  /** In words; empty when absent. */
  detail: string;
}

/**
 * Sets of packages for tools, each in a folder named by what it holds, so that tools which ask for the same share it, and every
 * process of this machine sees it. A set is there as a whole or not at all.
 */
export interface Packages {
  /** The folder of a set that is installed; undefined when it is not. */
  find(requirements: string[]): Promise<string | undefined>;
  look(requirements: string[]): Promise<PackagesState>;
  /**
   * Installs a set in the background of whoever asks; asking again joins in. Resolves with how it went, `absent` when it was given up
   * before it began: of what one person wants only so many sets wait.
   *
   * @param person on whose account; none: the server's own
   */
  install(requirements: string[], person?: string): Promise<PackagesState>;
  /** What the latest installation of a set printed, the end of it; empty when there was none. */
  log(requirements: string[]): Promise<string>;
  /**
   * Removes the sets that are not wanted and that nobody on this machine has found for so long; what is left of failures and of
   * installations that were cut off likewise. The time must be longer than a process of a tool lives without a call, and at
   * least some hours: no other sign tells that one still runs. When the room is nearly used up, six hours are enough, and for what is
   * left of failures a day.
   */
  sweep(wanted: string[][], unusedMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface PackagesOptions {
  folder: string;
  /** What sets are made for: the interpreter, and a text that is another one when they no longer fit. */
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

  /** Also notes that the set is in use: a sweep that has begun sees it, and leaves the set. */
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

  /** How much of what all sets may take is left. */
  async function room(): Promise<number> {
    const names = await readdir(folder).catch(() => []);
    const reports = await Promise.all(names.map((name) => readReport(join(folder, name))));
    const ready = reports.filter((report) => report?.state === 'ready');
    return ready.reduce((left, report) => left - Math.max(report?.bytes ?? 0, MIN_SET_BYTES), maxBytes);
  }

  /** Takes a set away at one stroke, unless somebody finds it in the meantime. */
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
    // Tools' own users pass through to the sets in it.
    await chmod(folder, 0o755);
    log.info(`Installing packages for tools: ${requirements.join(', ')}.`);
    // With the surroundings of the server, as pip's configuration is the owner's; it hands pip the few that pip knows.
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
    // Whoever was stopped in the middle has not said so.
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

/** As if the installer had said nothing for a while. Another one that has begun meanwhile is heard again at once. */
async function fallSilent(place: string): Promise<void> {
  const then = (Date.now() - SILENCE_MS - 1_000) / 1000;
  await utimes(stateOf(place), then, then).catch(() => {});
}

/** What the installer of a set said last; undefined when there was none. */
async function readReport(place: string): Promise<z.infer<typeof Report> | undefined> {
  const text = await readFile(stateOf(place), 'utf8').catch(() => '');
  if (text === '') return undefined;
  const report = Report.parse(JSON.parse(text));
  return { ...report, detail: withoutCredentials(report.detail) };
}

/** Who reads it is not who set up the index of this server, whose address may hold a token where pip does not look for one. */
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

/** When a set was found last; of one that was never whole, when its installer gave its last sign of life. */
const usedAt = (place: string) =>
  changedAt(siteOf(place))
    .catch(() => changedAt(stateOf(place)))
    .catch(() => changedAt(place));

/** Another process has removed the set in the meantime, or made it anew. */
function unlessOutrun(error: NodeJS.ErrnoException): void {
  if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code ?? '')) throw error;
}
