import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareEnvironment } from '../../src/python/environment.ts';
import { type Limits, type Python, startPython, type ToolCall } from '../../src/python/pool.ts';
// The nouns declare the errors that src/python throws. All in their order, as the document of the API shows them.
import '../../src/nouns.ts';

const REQUIREMENTS = join(import.meta.dirname, '../../src/python/host/requirements.txt');
const HASH = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);

/** One environment for all test runs on this machine, since making it takes many seconds. */
const ENVIRONMENT = join(tmpdir(), `parley-test-python-${HASH}`);

const silent = { info: () => {}, warn: () => {} };

/** The folder of a Python environment that is ready to use. */
export async function sharedEnvironment(): Promise<string> {
  await prepareEnvironment(ENVIRONMENT, undefined, silent, AbortSignal.timeout(300_000));
  return ENVIRONMENT;
}

/** Lets a server with this data folder find a ready Python environment. */
export async function linkEnvironment(dataDir: string): Promise<void> {
  await symlink(await sharedEnvironment(), join(dataDir, 'python'));
}

/** Long enough for honest code on a busy machine. A test of a time limit sets that limit itself. */
const PATIENT = { callTimeoutMs: 60_000, loadTimeoutMs: 60_000, beginMs: 30_000 } satisfies Partial<Limits>;

/**
 * Python in the shared environment, ready to use. With limits, also with `{}`, it is started for the caller. Without limits, the test
 * files of one worker share it: not for tests that harm it or install packages.
 */
export async function startTestPython(limits?: Partial<Limits>): Promise<Python> {
  if (!limits) {
    shared ??= startShared();
    return lend(await shared);
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const python = await startIn(dataDir, limits);
  const close = python.close.bind(python);
  python.close = async () => {
    await close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return python;
}

let shared: Promise<Python> | undefined;

/** It ends with this process. */
async function startShared(): Promise<Python> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  return startIn(dataDir, {});
}

async function startIn(dataDir: string, limits: Partial<Limits>): Promise<Python> {
  const environmentDir = await sharedEnvironment();
  const python = startPython({ dataDir, environmentDir, log: silent, limits: { ...PATIENT, ...limits } });
  await python.settled;
  const { state, detail } = python.state();
  if (state !== 'ready') throw new Error(detail);
  return python;
}

/** The same Python for one file: `close` ends the processes of its tools only. */
function lend(python: Python): Python {
  const used = new Set<string>();
  const note = <T extends { id: string }>(tool: T): T => {
    used.add(tool.id);
    return tool;
  };
  return {
    settled: python.settled,
    packages: python.packages,
    state: () => python.state(),
    interpreter: () => python.interpreter(),
    load: () => python.load(),
    inspect: (source, options) => python.inspect(note(source), options),
    call: (request) => python.call({ ...request, tool: note(request.tool) }),
    checkValves: (request) => python.checkValves({ ...request, tool: note(request.tool) }),
    describeValves: (request) => python.describeValves({ ...request, tool: note(request.tool) }),
    evict: (id) => python.evict(id),
    async close() {
      for (const id of used) python.evict(id);
    },
  };
}

export const ANN = { id: 'u1', name: 'Ann', email: 'ann@example.com', role: 'user' };

/**
 * A Python expression for the folder of the tool's process by a path that the test can open: as root, the
 * folder may be a file system that only the processes of tools see by its name.
 */
export const FOLDER = process.getuid?.() === 0 ? 'f"/proc/{os.getpid()}/cwd"' : 'os.getcwd()';

/** The source of a tool with these methods, which may be indented by one level or not at all. */
export function toolOf(methods: string, before = ''): string {
  const body = methods
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
  return `${before}\nclass Tools:\n${body}\n`;
}

/** A call of the tool runtime with JSON values parsed. */
type ParsedCall = Omit<ToolCall, 'onEvent' | 'onAsk'> & {
  onEvent?: (event: unknown) => void;
  onAsk?: (event: unknown, signal: AbortSignal) => Promise<unknown>;
};

/** Calls a function of a tool as Ann; the default is `f`. */
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
    onAsk: onAsk && ((event, { signal }) => onAsk(JSON.parse(event), signal)),
    ...more,
  });
  const result: unknown = JSON.parse(answer.result);
  const events: unknown[] = answer.events.map((event) => JSON.parse(event));
  return { ...answer, result, events };
}
