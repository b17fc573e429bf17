/** Limits of a tool. Sizes in bytes, times in milliseconds unless the name says otherwise. */
export interface Limits {
  callTimeoutMs: number;
  loadTimeoutMs: number;
  /**
   * How long a function may wait for an answer of its caller; the time of the function stands still
   * meanwhile.
   */
  askTimeoutMs: number;
  idleTimeoutMs: number;
  /** The bound on live processes; the longest unused process ends first. */
  processes: number;
  /** How many calls of one person run at a time, and how many more may wait. */
  callsPerPerson: number;
  waitingPerPerson: number;
  /** How long a process may leave a call unbegun before another process gets it. */
  beginMs: number;
  /** Private memory of a tool and all processes that it started. */
  memoryBytes: number;
  /** The size of each file of a tool. */
  fileBytes: number;
  /** The size of all files of a tool, and their number. */
  scratchBytes: number;
  scratchFiles: number;
  openFiles: number;
  /** Threads and child processes of one tool. */
  tasksPerTool: number;
  /** CPU time since the latest call. */
  cpuSeconds: number;
}

export const DEFAULT_LIMITS: Limits = {
  callTimeoutMs: 30_000,
  loadTimeoutMs: 10_000,
  askTimeoutMs: 5 * 60_000,
  idleTimeoutMs: 10 * 60_000,
  processes: 64,
  callsPerPerson: 16,
  waitingPerPerson: 128,
  beginMs: 3_000,
  memoryBytes: 512 * 1024 * 1024,
  fileBytes: 64 * 1024 * 1024,
  scratchBytes: 256 * 1024 * 1024,
  scratchFiles: 10_000,
  openFiles: 256,
  tasksPerTool: 128,
  cpuSeconds: 120,
};

/** The longest frame from a tool: a result of 8 MiB and its envelope. A longer frame ends the process. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024 + 64 * 1024;
/**
 * All frames of all tools that are longer than 64 KiB and in transit; further frames wait in their sockets.
 */
export const MAX_FRAMES_BYTES = 16 * MAX_FRAME_BYTES;
/**
 * A tool's description of itself: as much as can be stored, even when each character is an escape sequence.
 */
export const MAX_SAID_BYTES = 1024 * 1024;
/** The arguments of one person's calls that run or wait; further calls are refused. */
export const MAX_ARGUMENT_BYTES = 64 * 1024 * 1024;
/** The same for all people together. */
export const MAX_ARGUMENT_BYTES_OF_ALL = 512 * 1024 * 1024;
/**
 * The bounds on calls that were sent and have not begun, for slow and for quick processes. Further calls are
 * held back.
 */
export const FEWEST_UNBEGUN = 16;
export const MOST_UNBEGUN = 512;
export const MAX_UNBEGUN_BYTES = 4 * 1024 * 1024;
/** Bounds on the events of one call, enforced here too because a tool can write to its own channel. */
export const MAX_EVENTS = 1_000;
/** Their total size: twice what the host allows. */
export const MAX_EVENT_BYTES = 2 * 1024 * 1024;
/** How often one call may ask its caller. */
export const MAX_ASKS = 50;
/** How often one call may ask the server. */
export const MAX_REQUESTS = 200;
/** How many requests of one process are worked on at a time. Others wait. */
export const MAX_REQUESTS_AT_ONCE = 4;
/** Characters of the requests that wait or run; with more, the server does not read from the process. */
export const MAX_REQUESTS_HELD = 16 * 1024 * 1024;
/** Answers that a process has not read; more of them end the process. */
export const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
