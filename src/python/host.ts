import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PythonShell } from 'python-shell';
import { type FrameRoom, openFrameRoom } from './channel.room.ts';
import { readFrames } from './channel.ts';
import { type Ended, Spawned, type SpawnedProcess, type SpawnHandlers } from './host.spawned.ts';
import type { Limits } from './limits.ts';
import { Greeting, type HostOrder, HostReport } from './protocol.ts';

const run = promisify(execFile);

const START_TIMEOUT_MS = 30_000;
const GREETING_TIMEOUT_MS = 10_000;

/**
 * Limits what libraries allocate for each processor of the machine: memory arenas, and threads with stacks
 * and buffers. On a machine with many processors, `import numpy` alone took more than a tool may have.
 */
const SPARING = { MALLOC_ARENA_MAX: '2', OMP_NUM_THREADS: '2', OPENBLAS_NUM_THREADS: '2' };

/** What processes are told whose fork server has ended. */
const HOST_ENDED = 'the Python host has ended';
const LOST: Ended = { code: null, signal: null, exceeded: null, usage: null };

type Ready = Extract<HostReport, { kind: 'ready' }>;

/** One run of the fork server. */
export interface Host {
  versions: { python: string; pydantic: string };
  /** Layers of protection that this system lacks, in words. */
  missing: string[];
  /** `packages`: the folder of packages that the process uses beside those of the environment. */
  spawn(packages: string | undefined, handlers: SpawnHandlers): SpawnedProcess;
  /** Resolves with a reason when the fork server has ended, for whatever cause. */
  closed: Promise<string>;
  stop(): Promise<void>;
}

/** Starts the fork server and waits until it is warm. Rejects with the reason when it does not start. */
export async function startHost(python: string, limits: Limits): Promise<Host> {
  const { folder, address } = await makeFolder();
  // Processes that were ordered and have not connected, by token.
  const greetings = new Map<string, Spawned>();
  const door = await openDoor(address, greetings);
  const shell = startShell(python, { folder, address, limits: limitsOf(limits) });
  const server = new ForkServer(shell, folder, door, greetings);
  const ready = await server.ready();
  return {
    versions: { python: ready.python, pydantic: ready.pydantic },
    missing: ready.missing,
    closed: server.closed,
    spawn: (packages, handlers) => server.spawn(packages, handlers),
    stop: () => server.stop(),
  };
}

/** The Python process that forks the processes of tools, and those processes by their numbers. */
class ForkServer {
  /** Resolves with a reason when the fork server has ended. */
  readonly closed: Promise<string>;
  readonly #shell: PythonShell;
  readonly #greetings: Map<string, Spawned>;
  readonly #processes = new Map<number, Spawned>();
  /** Resolves when the folder of the fork server is removed. */
  readonly #cleaned: Promise<unknown>;
  #lastNumber = 0;
  #isClosed = false;

  constructor(shell: PythonShell, folder: string, door: Server, greetings: Map<string, Spawned>) {
    this.#shell = shell;
    this.#greetings = greetings;
    this.closed = untilClosed(shell).then((reason) => {
      this.#isClosed = true;
      door.close();
      for (const spawned of this.#processes.values()) spawned.end(HOST_ENDED, LOST);
      return reason;
    });
    // `rm` follows no link that a tool puts in the place of its folder.
    this.#cleaned = this.closed.then(() => run('rm', ['-rf', '--', folder])).catch(() => {});
    // A write to a host that has just ended fails with a pipe error; `closed` reports the end.
    shell.stdin.on('error', () => {});
  }

  /** Reads the reports of the fork server; resolves with the first, which says that it is warm. */
  ready(): Promise<Ready> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#shell.kill('SIGKILL');
        reject(new Error('it did not start in time'));
      }, START_TIMEOUT_MS);
      this.closed.then((reason) => reject(new Error(reason))).finally(() => clearTimeout(timer));
      this.#shell.on('message', (line: string) => {
        const report = HostReport.parse(JSON.parse(line));
        if (report.kind !== 'ready') return this.#end(report);
        clearTimeout(timer);
        resolve(report);
      });
    });
  }

  spawn(packages: string | undefined, handlers: SpawnHandlers): SpawnedProcess {
    const spawned = new Spawned(++this.#lastNumber, handlers, (message) => this.#order(message));
    const { number, token } = spawned;
    this.#processes.set(number, spawned);
    this.#greetings.set(token, spawned);
    spawned.ended.then(() => this.#greetings.delete(token));
    if (this.#isClosed) spawned.end(HOST_ENDED, LOST);
    else this.#order({ op: 'spawn', number, token, packages: packages ?? null });
    return spawned;
  }

  /** Ends the fork server; it ends the processes of tools first. */
  async stop(): Promise<void> {
    this.#shell.stdin.end();
    await this.#cleaned;
  }

  #order(message: HostOrder): void {
    if (!this.#shell.terminated && this.#shell.stdin.writable) this.#shell.send(JSON.stringify(message));
  }

  /** A process has ended, or could not be started. */
  #end(report: Exclude<HostReport, Ready>): void {
    const spawned = this.#processes.get(report.number);
    if (!spawned) return;
    this.#processes.delete(report.number);
    if (report.kind === 'ended') spawned.endOnceRead('its process ended before it was ready', report);
    else spawned.endOnceRead(report.detail, LOST);
  }
}

/** Makes the folder for the files of tools, with the socket on which their processes connect. */
async function makeFolder(): Promise<{ folder: string; address: string }> {
  // The users of tools need to pass through this folder. Server and fork server each remove it when the other
  // has ended.
  const folder = await mkdtemp(join(tmpdir(), 'parley-python-'));
  await chmod(folder, 0o711);
  // Only this user can enter the folder, and a process must send the token that it was started with.
  await mkdir(join(folder, 'door'), { mode: 0o700 });
  return { folder, address: join(folder, 'door', 'socket') };
}

async function openDoor(address: string, greetings: Map<string, Spawned>): Promise<Server> {
  const room = openFrameRoom();
  const door = createServer((socket) => greet(socket, room, greetings));
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(address, resolve);
  });
  return door;
}

function startShell(python: string, settings: object): PythonShell {
  return new PythonShell(join(import.meta.dirname, 'host', 'server.py'), {
    mode: 'text',
    pythonPath: python,
    pythonOptions: ['-I', '-X', 'utf8'],
    args: [JSON.stringify(settings)],
    // Passes no variables of the server's environment: they may hold secrets, and every tool inherits these.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TMPDIR: tmpdir(), ...SPARING },
  });
}

/** Resolves when the shell has ended: with the last line of its standard error, or its exit status. */
function untilClosed(shell: PythonShell): Promise<string> {
  let complaint = '';
  shell.on('stderr', (line: string) => {
    if (line.trim()) complaint = line.trim();
  });
  return new Promise((resolve) => {
    shell.on('error', (error) => resolve(error.message));
    shell.on('close', () => resolve(complaint || `it ended with ${shell.exitCode ?? shell.exitSignal}`));
  });
}

/** The limits as `confine.Limits` of the host names them. */
function limitsOf(limits: Limits): Record<string, number> {
  return {
    memory_bytes: limits.memoryBytes,
    file_bytes: limits.fileBytes,
    open_files: limits.openFiles,
    processes: limits.tasksPerTool,
    cpu_seconds: limits.cpuSeconds,
    scratch_bytes: limits.scratchBytes,
    scratch_files: limits.scratchFiles,
  };
}

/** Identifies the connected process by its token, and passes its frames to the handlers of that process. */
function greet(socket: Socket, room: FrameRoom, greetings: Map<string, Spawned>): void {
  let known: Spawned | undefined;
  socket.setTimeout(GREETING_TIMEOUT_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  const reader = readFrames(socket, room, {
    onFrame(message, payload, bytes) {
      if (known) return known.handlers.onMessage(message, payload, bytes);
      const greeting = Greeting.safeParse(message);
      const spawned = greeting.success ? greetings.get(greeting.data.token) : undefined;
      if (!greeting.success || !spawned) return void socket.destroy();
      greetings.delete(spawned.token);
      if (greeting.data.kind === 'unsafe') {
        spawned.refuse(`it could not be confined (${greeting.data.detail})`);
        return void socket.destroy();
      }
      socket.setTimeout(0);
      known = spawned;
      spawned.connect(socket, reader, greeting.data.clock);
    },
    onFault: (reason) => known?.handlers.onFault(reason),
  });
}
