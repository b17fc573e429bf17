import { createHash } from 'node:crypto';
import { AppError } from '../core/errors.ts';
import { outsideCalls } from '../core/work.ts';
import type { Host } from './host.ts';
import type { Limits } from './limits.ts';
import { type LoadedFrom, ToolProcess } from './process/process.ts';
import type { Turns } from './turns.ts';

const SWEEP_MS = 5_000;
/** Of so many places one is kept free. */
const MANY_PLACES = 16;
/** Pairs of person and tool with a process of their own; far more than there are places. */
const MAX_APART = 1_000;

export interface ToolSource {
  id: string;
  content: string;
  /** The folder of packages that the tool uses beside those of the environment. */
  packages?: string | undefined;
}

/** The processes of tools; their number is bounded. */
export class Places {
  readonly #host: () => Promise<Host>;
  readonly #limits: Limits;
  readonly #turns: Turns;
  /**
   * Every process that has not ended, the longest unused first. The key is set once the process takes calls.
   */
  readonly #live = new Map<ToolProcess, string | undefined>();
  /** Processes that take calls, by tool and content, and by person for those that were set apart. */
  readonly #warm = new Map<string, ToolProcess>();
  /** Processes that are starting, so that two first calls start one process. */
  readonly #launching = new Map<string, Promise<ToolProcess>>();
  /** Keys of persons with a process of their own. */
  readonly #apart = new Set<string>();
  /** Callers that wait for a place, each with its person. */
  readonly #waiting = new Map<() => void, string | undefined>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(host: () => Promise<Host>, limits: Limits, turns: Turns) {
    this.#host = host;
    this.#limits = limits;
    this.#turns = turns;
    this.#sweeper = setInterval(() => this.#stopUnused(), SWEEP_MS).unref();
  }

  /**
   * Starts a process. When all places are taken it waits: the process unused for the longest time ends, and
   * the person with the fewest turns is served first. @throws python_unavailable
   */
  async launch(tool: LoadedFrom, person: string | undefined): Promise<ToolProcess> {
    const host = await this.#host();
    const deadline = AbortSignal.timeout(this.#limits.loadTimeoutMs);
    while (this.#live.size >= this.#limits.processes) await this.#waitForPlace(person, deadline);
    const handlers = {
      onIdle: () => this.#wake(),
      onEnding: () => this.#forgetWarm(process),
      onGone: () => this.#forget(process),
    };
    const process = outsideCalls(() => new ToolProcess(host, tool, this.#limits, handlers));
    this.#live.set(process, undefined);
    return process;
  }

  /** Lets a launched process take calls. */
  keep(tool: ToolSource, process: ToolProcess): void {
    this.#keep(keyOf(tool), process);
  }

  /** The process that takes calls for that source; starts one when none exists. */
  async find(tool: ToolSource, person: string | undefined): Promise<ToolProcess> {
    const own = keyOf(tool, person);
    const key = this.#apart.has(own) ? own : keyOf(tool);
    const found = this.#warm.get(key);
    if (found) {
      // Moves it to the end of the order of use.
      this.#live.delete(found);
      this.#live.set(found, key);
      return found;
    }
    let started = this.#launching.get(key);
    if (!started) {
      started = this.launch(tool, person).then((process) => {
        this.#keep(key, process);
        return process;
      });
      this.#launching.set(key, started);
      const forget = () => this.#launching.delete(key);
      started.then(forget, forget);
    }
    return started;
  }

  /**
   * From now on the person's calls of this source get a process of their own, because calls of other people
   * disturbed them.
   */
  setApart(tool: ToolSource, person: string | undefined): void {
    if (this.#apart.size >= MAX_APART) this.#apart.clear();
    this.#apart.add(keyOf(tool, person));
  }

  /** Forgets the processes of a tool; calls under way may finish. */
  evict(toolId: string): void {
    for (const [key, process] of this.#warm) {
      if (key.startsWith(`${toolId}\n`)) process.retire();
    }
    for (const key of this.#apart) if (key.startsWith(`${toolId}\n`)) this.#apart.delete(key);
  }

  /** The number of processes, and of callers that wait for a place. */
  load(): { processes: number; waiting: number } {
    return { processes: this.#live.size, waiting: this.#waiting.size };
  }

  close(): void {
    clearInterval(this.#sweeper);
  }

  /** Waits until a place may be free. @throws python_unavailable after the deadline */
  async #waitForPlace(person: string | undefined, deadline: AbortSignal): Promise<void> {
    if (deadline.aborted) {
      const detail = `All ${this.#limits.processes} processes for tools are busy. Try again in a moment.`;
      throw new AppError('python_unavailable', { detail, retryAfterSeconds: 5 });
    }
    const woken = this.#untilWoken(person, deadline);
    this.#endUnused(this.#waiting.size);
    await woken;
  }

  /** Ends the process unused for the longest time, unless as many as are wanted are already ending. */
  #endUnused(wanted: number): void {
    const unused = [...this.#live.keys()].filter((one) => !one.isBusy());
    const ending = unused.filter((one) => one.isEnding());
    if (ending.length < wanted) unused.find((one) => !one.isEnding())?.stop();
  }

  /** Resolves when a place may be free, or at the deadline. */
  #untilWoken(person: string | undefined, deadline: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        this.#waiting.delete(look);
        deadline.removeEventListener('abort', look);
        resolve();
      };
      this.#waiting.set(look, person);
      deadline.addEventListener('abort', look, { once: true });
    });
  }

  #wake(): void {
    const inTurn = [...this.#waiting].sort(([, a], [, b]) => this.#turns.heldBy(a) - this.#turns.heldBy(b));
    this.#waiting.clear();
    for (const [look] of inTurn) look();
  }

  #stopUnused(): void {
    const now = performance.now();
    for (const one of this.#live.keys()) {
      if (!one.isBusy() && now - one.lastUsedAt > this.#limits.idleTimeoutMs) one.stop();
    }
  }

  #keep(key: string, process: ToolProcess): void {
    if (process.isEnding()) return;
    if (this.#warm.has(key)) {
      process.retire();
    } else {
      this.#warm.set(key, process);
      this.#live.set(process, key);
      const { processes } = this.#limits;
      // The next start finds a free place, and need not wait for the end of a process.
      if (processes >= MANY_PLACES && this.#live.size >= processes) this.#endUnused(1);
    }
  }

  /** The process takes no further calls. */
  #forgetWarm(process: ToolProcess): void {
    const key = this.#live.get(process);
    if (key !== undefined && this.#warm.get(key) === process) this.#warm.delete(key);
  }

  /** The process has ended. */
  #forget(process: ToolProcess): void {
    const key = this.#live.get(process);
    if (key !== undefined && !this.#warm.has(key)) this.#apart.delete(key);
    this.#live.delete(process);
    this.#wake();
  }
}

function keyOf({ id, content, packages = '' }: ToolSource, person = ''): string {
  return `${id}\n${createHash('sha256').update(content).digest('base64')}\n${packages}\n${person}`;
}
