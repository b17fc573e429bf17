import { AsyncLocalStorage } from 'node:async_hooks';

/** One running call that has its turn (`limits/calls.ts`). */
export class Turn {
  readonly caller: string;
  readonly startedAt = performance.now();
  /** How many database connections the call holds, and how many it waits for. */
  connections = 0;
  awaited = 0;

  constructor(caller: string) {
    this.caller = caller;
  }
}

export type Attributes = Record<string, string | number | boolean>;

/** One traced operation (`tracing.ts`). */
export interface Span {
  /** False for an operation that is not exported, or has ended: its steps are not traced. */
  readonly isRecorded: boolean;
  /** Undefined for an operation that is not exported. */
  readonly traceId: string | undefined;
  /** The header of the W3C trace context for calls that belong to the operation; undefined for one that is not exported. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** Notes the moment of an event. */
  note(event: string): void;
  /** Later calls do nothing. @param error what the operation has thrown */
  end(error?: unknown): void;
}

/** The request that running code works for. */
export class Work {
  /** Empty for the server's own work. */
  readonly requestId: string;
  readonly turn: Turn | undefined;
  readonly span: Span | undefined;

  constructor(requestId: string, turn?: Turn, span?: Span) {
    this.requestId = requestId;
    this.turn = turn;
    this.span = span;
  }
}

const storage = new AsyncLocalStorage<Work>();

/** Undefined for the server's own work. */
export const currentWork = (): Work | undefined => storage.getStore();

/** The id of the request that the running code works for. */
export const currentRequestId = (): string | undefined => storage.getStore()?.requestId || undefined;

/** Runs code as this work, with all that it begins. */
export const runAs = <T>(work: Work, run: () => T): T => storage.run(work, run);

/** Runs work that many requests share, such as the start of a process, outside of the running call. */
export const outsideCalls = <T>(work: () => T): T => storage.exit(work);

/** A function that runs for the request which has made it. Sockets and processes that serve many requests call it. */
export function bound<Args extends unknown[], Result>(
  run: (...args: Args) => Result,
): (...args: Args) => Result {
  const work = storage.getStore();
  return work ? (...args) => storage.run(work, run, ...args) : run;
}
