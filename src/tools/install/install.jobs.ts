import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../core/errors.ts';
import type { Parts } from '../../core/scope.ts';
import { describeTool, widenRequirements } from './install.repository.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly toolJobs: ToolJobs;
  }
}

/** A tool whose source waits for its packages, or is loaded with them. */
export interface Waiting {
  id: string;
  version: number;
  content: string;
  requirements: string[];
}

/**
 * Jobs that make tools ready for calls. Each job counts for the person that requested it; requests for a
 * running job join that job.
 */
export interface ToolJobs {
  /** Installs the packages of a tool in the background, then reads its specification. */
  prepare(tool: Waiting, person: string): void;
  /**
   * Reads the specification of a tool whose packages are in that folder, and stores it. A source that failed
   * to load is not loaded again for a while, for any person.
   *
   * @throws tool_not_ready with the reason, rate_limited, python_unavailable
   */
  describe(tool: Waiting, packages: string, person: string): Promise<void>;
  /**
   * The packages that another source with the same requirements and imports needed: most often the previous
   * source of the same tool.
   */
  recall(content: string): string[];
  note(content: string, requirements: string[]): void;
}

/** A source may fail for temporary reasons, for example the network. */
const FAILURE_MS = 300_000;
const FAILURES = 1_000;
const RECALLED = 1_000;
/**
 * The lines of a source that determine its packages: requirements, imports, and statements at the top level
 * that decide whether an import is reached.
 */
const ASKING =
  /^(?:[ \t]*requirements[ \t]*:|[ \t]*(?:import|from)\s|(?:try|except|else|finally|if|elif|with|def|class)\b).*$/gm;

/** The packages to install for a tool, with the missing packages added. */
export const widen = (requirements: string[], missing: string[]) =>
  [...new Set([...requirements, ...missing])].sort();

type Needed = Pick<Parts, 'python' | 'sql' | 'bus' | 'configs'>;

/** @param onError called when an installation fails, with the id of the tool */
export const createToolJobs = (parts: Needed, onError: (error: unknown, tool: string) => void): ToolJobs =>
  new Jobs(parts, onError);

class Jobs implements ToolJobs {
  readonly #parts: Needed;
  readonly #onError: (error: unknown, tool: string) => void;
  /** The reasons of sources that failed to load. */
  readonly #failures = new LRUCache<string, string>({ max: FAILURES, ttl: FAILURE_MS });
  /** The running jobs, by what they do and for which person. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #recalled = new LRUCache<string, string[]>({ max: RECALLED });

  constructor(parts: Needed, onError: (error: unknown, tool: string) => void) {
    this.#parts = parts;
    this.#onError = onError;
  }

  prepare(tool: Waiting, person: string): void {
    void this.#once(`prepare\n${keyOf(tool)}\n${person}`, () => this.#install(tool, person));
  }

  describe(tool: Waiting, packages: string, person: string): Promise<void> {
    const name = `describe\n${keyOf(tool, packages)}\n${person}`;
    return this.#once(name, () => this.#load(tool, packages, person));
  }

  recall(content: string): string[] {
    return this.#recalled.get(askingOf(content)) ?? [];
  }

  note(content: string, requirements: string[]): void {
    this.#recalled.set(askingOf(content), requirements);
  }

  #once(name: string, job: () => Promise<void>): Promise<void> {
    let started = this.#running.get(name);
    if (!started) {
      started = job().finally(() => this.#running.delete(name));
      this.#running.set(name, started);
    }
    return started;
  }

  async #install(tool: Waiting, person: string): Promise<void> {
    const { packages } = this.#parts.python;
    try {
      const { state } = await packages.install(tool.requirements, person);
      const folder = state === 'ready' ? await packages.find(tool.requirements) : undefined;
      if (folder) await this.describe(tool, folder, person);
    } catch (error) {
      if (error instanceof AppError && error.retryAfterSeconds !== undefined) return;
      // The set keeps the reason of a failure; otherwise the next request for the tool finds it again.
      this.#onError(error, tool.id);
    }
  }

  async #load(tool: Waiting, packages: string, person: string): Promise<void> {
    const { python, sql, bus, configs } = this.#parts;
    const key = keyOf(tool, packages);
    const known = this.#failures.get(key);
    if (known !== undefined) throw new AppError('tool_not_ready', { detail: known });
    try {
      const isStrict = configs.current.tools?.install_requirements ?? false;
      const options = { isStrict, installed: tool.requirements, person };
      const module = await python.inspect({ id: tool.id, content: tool.content, packages }, options);
      if (isStrict && module.missing.length > 0) return await this.#prepareMore(tool, module.missing, person);
      this.note(tool.content, tool.requirements);
      if (await describeTool(sql, tool, module)) bus.publish('tool.changed', { id: tool.id });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'tool_invalid') throw error;
      // When the packages were removed meanwhile, the source is not at fault, and the packages are installed
      // again.
      if (await python.packages.find(tool.requirements)) this.#failures.set(key, error.message);
      throw new AppError('tool_not_ready', { detail: error.message, cause: error });
    }
  }

  /**
   * Once the required packages are installed, the imports of a source can show further ones.
   *
   * @throws tool_not_ready
   */
  async #prepareMore(tool: Waiting, missing: string[], person: string): Promise<never> {
    const requirements = widen(tool.requirements, missing);
    if (await widenRequirements(this.#parts.sql, tool, requirements)) {
      this.prepare({ ...tool, requirements }, person);
    }
    throw new AppError('tool_not_ready', {
      detail: `The source imports packages that it does not ask for (${missing.join(', ')}); they are being installed. Try again in a moment.`,
      retryAfterSeconds: 5,
    });
  }
}

const askingOf = (content: string) =>
  createHash('sha256')
    .update((content.match(ASKING) ?? []).join('\n'))
    .digest('base64');

/** A new tool may have the id and the version of a deleted one. */
function keyOf({ id, version, content, requirements }: Waiting, packages = ''): string {
  const hash = createHash('sha256').update(JSON.stringify([version, packages, ...requirements]));
  return `${id}\n${hash.update(content).digest('base64')}`;
}
