import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareEnvironment } from '../../src/python/environment.ts';
import { type Limits, type Python, startPython, type ToolCall } from '../../src/python/pool.ts';

const REQUIREMENTS = join(import.meta.dirname, '../../src/python/host/requirements.txt');
const HASH = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);

/** One environment for every test run on this machine: making it takes many seconds. */
const ENVIRONMENT = join(tmpdir(), `parley-test-python-${HASH}`);

const silent = { info: () => {}, warn: () => {} };

/** The folder of a Python environment that is ready to use. */
export async function sharedEnvironment(): Promise<string> {
  await prepareEnvironment(ENVIRONMENT, undefined, silent, AbortSignal.timeout(300_000));
  return ENVIRONMENT;
}

/** Lets a server with that data folder find its Python environment made already. */
export async function linkEnvironment(dataDir: string): Promise<void> {
  await symlink(await sharedEnvironment(), join(dataDir, 'python'));
}

/** As much as honest code may need on a busy machine. A test of what happens when a time is over sets that one itself. */
const PATIENT = { callTimeoutMs: 60_000, loadTimeoutMs: 60_000, beginMs: 30_000 } satisfies Partial<Limits>;

/** Python in the shared environment, ready. */
export async function startTestPython(limits: Partial<Limits> = {}): Promise<Python> {
  const environmentDir = await sharedEnvironment();
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const python = startPython({ dataDir, environmentDir, log: silent, limits: { ...PATIENT, ...limits } });
  await python.settled;
  const { state, detail } = python.state();
  if (state !== 'ready') throw new Error(detail);
  return {
    ...python,
    async close() {
      await python.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export const ANN = { id: 'u1', name: 'Ann', email: 'ann@example.com', role: 'user' };

/**
 * An expression for the folder of a tool's process as the test can enter it: started by root, it may be a file system that only the
 * processes of tools see by its name.
 */
export const FOLDER = process.getuid?.() === 0 ? 'f"/proc/{os.getpid()}/cwd"' : 'os.getcwd()';

/** The source of a tool with these methods, each indented by one level already or not at all. */
export function toolOf(methods: string, before = ''): string {
  const body = methods
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
  return `${before}\nclass Tools:\n${body}\n`;
}

/** As the tool runtime takes a call, but what it has as JSON is parsed. */
type ParsedCall = Omit<ToolCall, 'onEvent' | 'onAsk'> & {
  onEvent?: (event: unknown) => void;
  onAsk?: (event: unknown, signal: AbortSignal) => Promise<unknown>;
};

/** Calls the function `f` of a tool, unless told otherwise, as Ann. */
export async function callTool(
  python: Python,
  content: string,
  args: Record<string, unknown> = {},
  { onEvent, onAsk, ...more }: Partial<ParsedCall> = {},
) {
  const answer = await python.call({
    tool: { id: 'tool', content },
    function: 'f',
    arguments: args,
    user: ANN,
    onEvent: onEvent && ((event) => onEvent(JSON.parse(event))),
    onAsk: onAsk && ((event, signal) => onAsk(JSON.parse(event), signal)),
    ...more,
  });
  const result: unknown = JSON.parse(answer.result);
  const events: unknown[] = answer.events.map((event) => JSON.parse(event));
  return { ...answer, result, events };
}
