import { type Attributes, currentWork, runAs, type Span, Work } from './work.ts';

/** What a span says of its operation: names and ids, never contents, secrets or addresses of people. */
export interface Operation {
  name: string;
  /** A step within the process unless given. */
  kind?: 'server' | 'client' | 'consumer';
  attributes?: Attributes;
}

/** A call that a client makes, or a job. */
export interface Root extends Operation {
  /** The `traceparent` that the caller sent, and whether its decision about sampling counts. */
  caller?: { traceparent: string; isTrusted: boolean } | undefined;
  /** The `traceparent` of the call that has made the job. */
  madeBy?: string | undefined;
}

export interface Tracer {
  begin(root: Root): Span;
  beginStep(parent: Span, step: Operation): Span;
}

/** Set by `src/telemetry/` while traces are exported. */
let tracer: Tracer | undefined;

export function setTracer(used: Tracer | undefined): void {
  tracer = used;
}

/** Whether the steps of the running work are traced. */
export const isTraced = (): boolean => tracer !== undefined && currentWork()?.span?.isRecorded === true;

/** Runs a call or a job for its request. With a tracer, it is a span. */
export function traceWork<T>(requestId: string, describe: () => Root, work: () => Promise<T>): Promise<T> {
  const span = tracer?.begin(describe());
  const running = runAs(new Work(requestId, undefined, span), work);
  return span ? ending(span, running) : running;
}

/** Runs a step of traced work as a span; what it begins belongs to the step. Other work just runs. */
export function traceStep<T>(describe: () => Operation, work: () => Promise<T>): Promise<T> {
  const span = beginStep(describe);
  if (!span) return work();
  const { requestId = '', turn } = currentWork() ?? {};
  return ending(span, runAs(new Work(requestId, turn, span), work));
}

/** The span of a step that the caller ends; undefined unless the running work is traced. */
export function beginStep(describe: () => Operation): Span | undefined {
  const parent = tracer && currentWork()?.span;
  return parent?.isRecorded ? tracer?.beginStep(parent, describe()) : undefined;
}

async function ending<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
