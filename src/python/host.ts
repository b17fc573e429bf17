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

/** As often, at most, the fork server hears that a process is given calls. */
const CALLED_MS = 500;

/**
 * What libraries would otherwise set aside for every processor of the machine: arenas of memory, and threads with their stacks and buffers.
 * Where there are many, `import numpy` alone took more than a tool may have.
 */
const SPARING = { MALLOC_ARENA_MAX: '2', OMP_NUM_THREADS: '2', OPENBLAS_NUM_THREADS: '2' };

type EndReport = Extract<HostReport, { kind: 'ended' }>;

/** How a process ended: its exit status, or the signal that ended it, and the limit that it had passed. All null: the whole host is gone. */
export type Ended = { [K in 'code' | 'signal' | 'exceeded' | 'usage']: EndReport[K] | null };

const LOST: Ended = { code: null, signal: null, exceeded: null, usage: null };

export interface SpawnedProcess {
  /** Rejects when the process could not be started or could not give up its rights. */
  connected: Promise<void>;
  /** Resolves when it is gone, with all that it had started. */
  ended: Promise<Ended>;
  /** Sends a message, whose JSON comes in parts. */
  send(...parts: Buffer[]): void;
  /** How many bytes that it was sent wait for it. */
  unread(): number;
  /** Whether few of them do. */
  isRead(): boolean;
  /** Whether to go on reading what it says. */
  listen(isOn: boolean): void;
  /** Whether it may have said something that was not read, because this side does not read just now. */
  isUnheard(): boolean;
  /** Counts the processor time that it may use from now on, within a second. */
  countAnew(): void;
  /** The time by its own clock, in seconds; never more than that. */
  clock(): number;
  /** Ends the process and whatever it has started, at once. */
  kill(): void;
}

export interface SpawnHandlers {
  /** `bytes`: of the head, `message`, and the payload. */
  onMessage(message: unknown, payload: Payload | undefined, bytes: number): void;
  /** It has read all that it was sent, after that had not been so. */
  onRead(): void;
  /** The process broke the protocol; its channel is closed already. */
  onFault(reason: string): void;
}

/** One life of the fork server. */
export interface Host {
  versions: { python: string; pydantic: string };
  /** Layers of protection that this system does not offer, in words. */
  missing: string[];
  /** `packages`: the folder of packages that it gets beside those of the environment. */
  spawn(packages: string | undefined, handlers: SpawnHandlers): SpawnedProcess;
  /** Resolves with a reason when the fork server has ended, asked to or not. */
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
  // Tools' own users pass through to their folders in it. Whichever side outlives the other removes it.
  const folder = await mkdtemp(join(tmpdir(), 'parley-python-'));
  await chmod(folder, 0o711);
  // Only this user can enter, and a process must name the token that it was started with.
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
    // Nothing of the server's environment: it may hold secrets, and every tool inherits this one.
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
  // `rm` goes by what it has opened: what a tool puts in the place of its folder meanwhile, it does not follow.
  const cleaned = closed.then(() => run('rm', ['-rf', '--', folder])).catch(() => {});

  const order = (message: HostOrder) => {
    if (!shell.terminated && shell.stdin.writable) shell.send(JSON.stringify(message));
  };
  // Writing to a host that just ended is an error of the pipe; `closed` tells of it.
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
      // What it had said before it ended lies in its socket, and is read in this turn of the event loop; a long frame in some more.
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
        // A process without its channel is of no use; one that has ended already stays unharmed.
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

/** For a process whose fork server is gone, and it with it. */
function lose(tracked: Tracked): void {
  tracked.socket?.destroy();
  tracked.refuse('the Python host has ended');
  tracked.end(LOST);
}

/** Finds out which process has connected, and hands its frames to whoever started it. */
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
