import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PythonShell } from 'python-shell';
import {
  type FrameReader,
  type FrameRoom,
  openFrameRoom,
  type Payload,
  readFrames,
  writeFrame,
} from './channel.ts';
import { Greeting, type HostOrder, HostReport, type Limits } from './protocol.ts';

const run = promisify(execFile);

const START_TIMEOUT_MS = 30_000;
const GREETING_TIMEOUT_MS = 10_000;

/** The shortest time between two notices to the fork server that a process gets calls. */
const CALLED_MS = 500;

/**
 * Limits what libraries allocate for each processor of the machine: memory arenas, and threads with stacks
 * and buffers. On a machine with many processors, `import numpy` alone took more than a tool may have.
 */
const SPARING = { MALLOC_ARENA_MAX: '2', OMP_NUM_THREADS: '2', OPENBLAS_NUM_THREADS: '2' };

type EndReport = Extract<HostReport, { kind: 'ended' }>;

/**
 * How a process ended: its exit status or signal, and the limit that it exceeded. All are null when the whole
 * host has ended.
 */
export type Ended = { [K in 'code' | 'signal' | 'exceeded' | 'usage']: EndReport[K] | null };

const LOST: Ended = { code: null, signal: null, exceeded: null, usage: null };

export interface SpawnedProcess {
  /** Rejects when the process could not be started or could not give up its rights. */
  connected: Promise<void>;
  /** Resolves when the process and all processes that it started have ended. */
  ended: Promise<Ended>;
  /** Sends a message. The parts together are its JSON. */
  send(...parts: Buffer[]): void;
  /** How many sent bytes the process has not read. */
  unread(): number;
  /** Whether the process has read nearly all sent bytes. */
  isRead(): boolean;
  /** Turns reading from the process on or off. */
  listen(isOn: boolean): void;
  /** Whether the process may have sent messages that are unread because reading is off. */
  isUnheard(): boolean;
  /** Restarts the count of the processor time that the process may use; takes effect within a second. */
  countAnew(): void;
  /** The time by the clock of the process, in seconds; a lower bound. */
  clock(): number;
  /** Ends the process and all processes that it started, at once. */
  kill(): void;
}

export interface SpawnHandlers {
  /** `bytes`: the size of the head (`message`) and the payload. */
  onMessage(message: unknown, payload: Payload | undefined, bytes: number): void;
  /** The process has read all sent bytes after a backlog. */
  onRead(): void;
  /** The process violated the protocol; its channel is already closed. */
  onFault(reason: string): void;
}

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

interface Tracked extends SpawnHandlers {
  number: number;
  socket?: Socket;
  reader?: FrameReader;
  kill(): void;
  connect(clock: number): void;
  refuse(reason: string): void;
  end(ended: Ended): void;
}

/** Starts the fork server and waits until it is warm. Rejects with the reason when it does not start. */
export async function startHost(python: string, limits: Limits): Promise<Host> {
  // The users of tools need to pass through this folder. Server and fork server each remove it when the other
  // has ended.
  const folder = await mkdtemp(join(tmpdir(), 'parley-python-'));
  await chmod(folder, 0o711);
  // Only this user can enter the folder, and a process must send the token that it was started with.
  const address = join(folder, 'door', 'socket');
  await mkdir(join(folder, 'door'), { mode: 0o700 });
  const processes = new Map<number, Tracked>();
  const greetings = new Map<string, Tracked>();
  let lastNumber = 0;
  let isClosed = false;

  const room = openFrameRoom();
  const doorbell = createServer((socket) => greet(socket, room, greetings));
  await new Promise<void>((resolve, reject) => {
    doorbell.once('error', reject);
    doorbell.listen(address, resolve);
  });

  const settings = {
    folder,
    address,
    limits: {
      memory_bytes: limits.memoryBytes,
      file_bytes: limits.fileBytes,
      open_files: limits.openFiles,
      processes: limits.tasksPerTool,
      cpu_seconds: limits.cpuSeconds,
      scratch_bytes: limits.scratchBytes,
      scratch_files: limits.scratchFiles,
    },
  };
  const shell = new PythonShell(join(import.meta.dirname, 'host', 'server.py'), {
    mode: 'text',
    pythonPath: python,
    pythonOptions: ['-I', '-X', 'utf8'],
    args: [JSON.stringify(settings)],
    // Passes no variables of the server's environment: they may hold secrets, and every tool inherits these.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TMPDIR: tmpdir(), ...SPARING },
  });

  let complaint = '';
  shell.on('stderr', (line: string) => {
    if (line.trim()) complaint = line.trim();
  });
  const closed = new Promise<string>((resolve) => {
    shell.on('error', (error) => resolve(error.message));
    shell.on('close', () => resolve(complaint || `it ended with ${shell.exitCode ?? shell.exitSignal}`));
  }).then((reason) => {
    isClosed = true;
    doorbell.close();
    for (const tracked of processes.values()) lose(tracked);
    return reason;
  });
  // `rm` follows no link that a tool puts in the place of its folder.
  const cleaned = closed.then(() => run('rm', ['-rf', '--', folder])).catch(() => {});

  const order = (message: HostOrder) => {
    if (!shell.terminated && shell.stdin.writable) shell.send(JSON.stringify(message));
  };
  // A write to a host that has just ended fails with a pipe error; `closed` reports the end.
  shell.stdin.on('error', () => {});

  const ready = await new Promise<Extract<HostReport, { kind: 'ready' }>>((resolve, reject) => {
    const timer = setTimeout(() => {
      shell.kill('SIGKILL');
      reject(new Error('it did not start in time'));
    }, START_TIMEOUT_MS);
    closed.then((reason) => reject(new Error(reason))).finally(() => clearTimeout(timer));
    shell.on('message', (line: string) => {
      const report = HostReport.parse(JSON.parse(line));
      if (report.kind === 'ready') {
        clearTimeout(timer);
        resolve(report);
        return;
      }
      const tracked = processes.get(report.number);
      if (!tracked) return;
      processes.delete(report.number);
      // Messages that the process sent before its end are still in the socket. They are read in this turn of
      // the event loop; a long frame takes several turns.
      const end = () => {
        if (tracked.reader?.isChecking()) return void setImmediate(end);
        tracked.socket?.destroy();
        tracked.refuse(report.kind === 'failed' ? report.detail : 'its process ended before it was ready');
        tracked.end(report.kind === 'ended' ? report : LOST);
      };
      setImmediate(end);
    });
  });

  return {
    versions: { python: ready.python, pydantic: ready.pydantic },
    missing: ready.missing,
    closed,
    spawn(packages, handlers) {
      const number = ++lastNumber;
      const token = randomBytes(16).toString('hex');
      const connection = Promise.withResolvers<void>();
      const end = Promise.withResolvers<Ended>();
      connection.promise.catch(() => {});
      let clockOffset = 0;
      let calledAt = Number.NEGATIVE_INFINITY;
      const tracked: Tracked = {
        ...handlers,
        number,
        // A process without its channel is useless, so it is ended. The order does nothing to a process that
        // has already ended.
        kill: () => order({ op: 'kill', number }),
        connect(clock) {
          clockOffset = clock - performance.now() / 1000;
          greetings.delete(token);
          connection.resolve();
        },
        refuse(reason) {
          greetings.delete(token);
          connection.reject(new Error(reason));
        },
        end: end.resolve,
      };
      processes.set(number, tracked);
      greetings.set(token, tracked);
      if (isClosed) lose(tracked);
      else order({ op: 'spawn', number, token, packages: packages ?? null });
      return {
        connected: connection.promise,
        ended: end.promise,
        send(...parts) {
          if (tracked.socket && !tracked.socket.destroyed) writeFrame(tracked.socket, ...parts);
        },
        unread: () => tracked.socket?.writableLength ?? 0,
        isRead: () => !tracked.socket?.writableNeedDrain,
        listen: (isOn) => tracked.reader?.listen(isOn),
        isUnheard: () => tracked.reader?.isBehind() ?? false,
        countAnew() {
          if (performance.now() - calledAt < CALLED_MS) return;
          calledAt = performance.now();
          order({ op: 'called', number });
        },
        clock: () => clockOffset + performance.now() / 1000,
        kill: tracked.kill,
      };
    },
    async stop() {
      shell.stdin.end();
      await cleaned;
    },
  };
}

/** Reports the end of a process whose fork server has ended. */
function lose(tracked: Tracked): void {
  tracked.socket?.destroy();
  tracked.refuse('the Python host has ended');
  tracked.end(LOST);
}

/** Identifies the connected process by its token and passes its frames to the matching spawn. */
function greet(socket: Socket, room: FrameRoom, greetings: Map<string, Tracked>): void {
  let tracked: Tracked | undefined;
  socket.setTimeout(GREETING_TIMEOUT_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  const reader = readFrames(socket, room, {
    onFrame(message, payload, bytes) {
      if (tracked) return tracked.onMessage(message, payload, bytes);
      const greeting = Greeting.safeParse(message);
      const owner = greeting.success ? greetings.get(greeting.data.token) : undefined;
      if (!greeting.success || !owner) return void socket.destroy();
      if (greeting.data.kind === 'unsafe') {
        owner.refuse(`it could not be confined (${greeting.data.detail})`);
        return void socket.destroy();
      }
      socket.setTimeout(0);
      owner.socket = socket;
      owner.reader = reader;
      socket.on('close', owner.kill);
      socket.on('drain', owner.onRead);
      tracked = owner;
      owner.connect(greeting.data.clock);
    },
    onFault: (reason) => tracked?.onFault(reason),
  });
}
