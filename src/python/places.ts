import { createHash } from 'node:crypto';
import { AppError } from '../core/errors.ts';
import type { Host } from './host.ts';
import { type LoadedFrom, loadTool, type ToolProcess } from './process/process.ts';
import type { Limits } from './protocol.ts';
import type { Turns } from './turns.ts';

const SWEEP_MS = 5_000;
/** Pairs of person and tool with a process of their own; far more than there are places. */
const MAX_APART = 1_000;

export interface ToolSource {
  id: string;
  content: string;
  /** The folder of packages that the tool uses beside those of the environment. */
  packages?: string | undefined;
}

/** The processes of tools; their number is bounded. */
export interface Places {
  /**
   * Starts a process. When all places are taken it waits: the process unused for the longest time ends, and
   * the person with the fewest turns is served first. @throws python_unavailable
   */
  launch(tool: LoadedFrom, person: string | undefined): Promise<ToolProcess>;
  /** Lets a launched process take calls. */
  keep(tool: ToolSource, process: ToolProcess): void;
  /** The process that takes calls for that source; starts one when none exists. */
  find(tool: ToolSource, person: string | undefined): Promise<ToolProcess>;
  /**
   * From now on the person's calls of this source get a process of their own, because calls of other people
   * disturbed them.
   */
  setApart(tool: ToolSource, person: string | undefined): void;
  /** Forgets the processes of a tool; calls under way may finish. */
  evict(toolId: string): void;
  /** The number of processes, and of callers that wait for a place. */
  load(): { processes: number; waiting: number };
  close(): void;
}

export function openPlaces(host: () => Promise<Host>, limits: Limits, turns: Turns): Places {
  /**
   * Every process that has not ended, the longest unused first. The key is set once the process takes calls.
   */
  const live = new Map<ToolProcess, string | undefined>();
  /** Processes that take calls, by tool and content, and by person for those that were set apart. */
  const warm = new Map<string, ToolProcess>();
  /** Processes that are starting, so that two first calls start one process. */
  const launching = new Map<string, Promise<ToolProcess>>();
  const apart = new Set<string>();
  const waiting = new Map<() => void, string | undefined>();

  const sweeper = setInterval(() => {
    const now = performance.now();
    for (const one of live.keys()) {
      if (!one.isBusy() && now - one.lastUsedAt > limits.idleTimeoutMs) one.stop();
    }
  }, SWEEP_MS).unref();

  const wake = () => {
    const inTurn = [...waiting].sort(([, a], [, b]) => turns.heldBy(a) - turns.heldBy(b));
    waiting.clear();
    for (const [look] of inTurn) look();
  };

  /** Resolves when a place may be free, or at the deadline. */
  function untilWoken(person: string | undefined, deadline: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        waiting.delete(look);
        deadline.removeEventListener('abort', look);
        resolve();
      };
      waiting.set(look, person);
      deadline.addEventListener('abort', look, { once: true });
    });
  }

  async function launch(tool: LoadedFrom, person: string | undefined) {
    const running = await host();
    const deadline = AbortSignal.timeout(limits.loadTimeoutMs);
    while (live.size >= limits.processes) {
      if (deadline.aborted) {
        const detail = `All ${limits.processes} processes for tools are busy. Try again in a moment.`;
        throw new AppError('python_unavailable', { detail, retryAfterSeconds: 5 });
      }
      const woken = untilWoken(person, deadline);
      const unused = [...live.keys()].filter((one) => !one.isBusy());
      const leaving = unused.filter((one) => one.isEnding());
      // A caller that was woken and found the place taken waits for a process that is already ending.
      if (leaving.length < waiting.size) unused.find((one) => !one.isEnding())?.stop();
      await woken;
    }
    const process = loadTool(running, tool, limits, {
      onIdle: wake,
      onEnding() {
        const key = live.get(process);
        if (key !== undefined && warm.get(key) === process) warm.delete(key);
      },
      onGone() {
        const key = live.get(process);
        if (key !== undefined && !warm.has(key)) apart.delete(key);
        live.delete(process);
        wake();
      },
    });
    live.set(process, undefined);
    return process;
  }

  function keep(key: string, process: ToolProcess): void {
    if (process.isEnding()) return;
    if (warm.has(key)) {
      process.retire();
    } else {
      warm.set(key, process);
      live.set(process, key);
    }
  }

  return {
    launch,
    keep: (tool, process) => keep(keyOf(tool), process),

    async find(tool, person) {
      const own = keyOf(tool, person);
      const key = apart.has(own) ? own : keyOf(tool);
      const found = warm.get(key);
      if (found) {
        // Moves it to the end of the order of use.
        live.delete(found);
        live.set(found, key);
        return found;
      }
      let started = launching.get(key);
      if (!started) {
        started = launch(tool, person).then((process) => {
          keep(key, process);
          return process;
        });
        launching.set(key, started);
        const forget = () => launching.delete(key);
        started.then(forget, forget);
      }
      return started;
    },

    setApart(tool, person) {
      if (apart.size >= MAX_APART) apart.clear();
      apart.add(keyOf(tool, person));
    },

    evict(toolId) {
      for (const [key, process] of warm) {
        if (key.startsWith(`${toolId}\n`)) process.retire();
      }
      for (const key of apart) if (key.startsWith(`${toolId}\n`)) apart.delete(key);
    },

    load: () => ({ processes: live.size, waiting: waiting.size }),

    close: () => clearInterval(sweeper),
  };
}

function keyOf({ id, content, packages = '' }: ToolSource, person = ''): string {
  return `${id}\n${createHash('sha256').update(content).digest('base64')}\n${packages}\n${person}`;
}
