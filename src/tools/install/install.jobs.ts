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

/** A tool whose source waits for its packages, or is to be run with them. */
export interface Waiting {
  id: string;
  version: number;
  content: string;
  requirements: string[];
}

/** What brings tools to where they can be called. Each job is done on somebody's account, and once for all that they ask meanwhile. */
export interface ToolJobs {
  /** Installs the packages of a tool in the background, and reads its specification when they are there. */
  prepare(tool: Waiting, person: string): void;
  /**
   * Reads the specification of a tool whose packages are in that folder, and stores it. What did not load is not loaded again
   * for a while, whoever asks.
   *
   * @throws tool_not_ready with the reason, rate_limited, python_unavailable
   */
  describe(tool: Waiting, packages: string, person: string): Promise<void>;
  /** What another source needed that asks for the same and imports the same: most often the one before of the same tool. */
  recall(content: string): string[];
  note(content: string, requirements: string[]): void;
}

/** A source may fail for reasons that pass, the network for one. */
const FAILURE_MS = 300_000;
const FAILURES = 1_000;
const RECALLED = 1_000;
/** All that packages follow from: requirements, imports, and what decides at the top level whether an import is met. */
const ASKING =
  /^(?:[ \t]*requirements[ \t]*:|[ \t]*(?:import|from)\s|(?:try|except|else|finally|if|elif|with|def|class)\b).*$/gm;

/** What is installed for a tool, with more that turned out to be missing. */
export const widen = (requirements: string[], missing: string[]) =>
  [...new Set([...requirements, ...missing])].sort();

export function createToolJobs(
  { python, sql, bus, configs }: Pick<Parts, 'python' | 'sql' | 'bus' | 'configs'>,
  onError: (error: unknown, tool: string) => void,
): ToolJobs {
  const failures = new LRUCache<string, string>({ max: FAILURES, ttl: FAILURE_MS });
  const running = new Map<string, Promise<void>>();
  const recalled = new LRUCache<string, string[]>({ max: RECALLED });

  function once(name: string, job: () => Promise<void>): Promise<void> {
    let started = running.get(name);
    if (!started) {
      started = job().finally(() => running.delete(name));
      running.set(name, started);
    }
    return started;
  }

  async function load(tool: Waiting, packages: string, person: string): Promise<void> {
    const key = keyOf(tool, packages);
    const known = failures.get(key);
    if (known !== undefined) throw new AppError('tool_not_ready', { detail: known });
    try {
      const isStrict = configs.current.tools?.install_requirements ?? false;
      const options = { isStrict, installed: tool.requirements, person };
      const module = await python.inspect({ id: tool.id, content: tool.content, packages }, options);
      if (isStrict && module.missing.length > 0) return await prepareMore(tool, module.missing, person);
      recalled.set(askingOf(tool.content), tool.requirements);
      if (await describeTool(sql, tool, module)) bus.publish('tool.changed', { id: tool.id });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'tool_invalid') throw error;
      // One whose packages were removed meanwhile is not to blame, and gets them again.
      if (await python.packages.find(tool.requirements)) failures.set(key, error.message);
      throw new AppError('tool_not_ready', { detail: error.message, cause: error });
    }
  }

  /** With the packages of its requirements in place, the imports of a source tell of more. @throws tool_not_ready */
  async function prepareMore(tool: Waiting, missing: string[], person: string): Promise<never> {
    const requirements = widen(tool.requirements, missing);
    if (await widenRequirements(sql, tool, requirements)) prepare({ ...tool, requirements }, person);
    throw new AppError('tool_not_ready', {
      detail: `The source imports packages that it does not ask for (${missing.join(', ')}); they are being installed. Try again in a moment.`,
      retryAfterSeconds: 5,
    });
  }

  async function install(tool: Waiting, person: string): Promise<void> {
    try {
      const { state } = await python.packages.install(tool.requirements, person);
      const packages = state === 'ready' ? await python.packages.find(tool.requirements) : undefined;
      if (packages) await describe(tool, packages, person);
    } catch (error) {
      if (error instanceof AppError && error.retryAfterSeconds !== undefined) return;
      // The reason of a failure is kept by the set, or found again by whoever asks for the tool.
      onError(error, tool.id);
    }
  }

  const describe: ToolJobs['describe'] = (tool, packages, person) =>
    once(`describe\n${keyOf(tool, packages)}\n${person}`, () => load(tool, packages, person));

  const prepare: ToolJobs['prepare'] = (tool, person) =>
    void once(`prepare\n${keyOf(tool)}\n${person}`, () => install(tool, person));

  return {
    describe,
    prepare,
    recall: (content) => recalled.get(askingOf(content)) ?? [],
    note: (content, requirements) => void recalled.set(askingOf(content), requirements),
  };
}

const askingOf = (content: string) =>
  createHash('sha256')
    .update((content.match(ASKING) ?? []).join('\n'))
    .digest('base64');

/** A tool that was deleted may have the id and the version of another. */
function keyOf({ id, version, content, requirements }: Waiting, packages = ''): string {
  const hash = createHash('sha256').update(JSON.stringify([version, packages, ...requirements]));
  return `${id}\n${hash.update(content).digest('base64')}`;
}
