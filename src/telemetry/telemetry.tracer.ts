import {
  type Context,
  type Link,
  type Tracer as OtelSdkTracer,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace';
import { describeFailure } from '../core/failure.ts';
import type { Operation, Root, Tracer } from '../core/tracing.ts';
import type { Attributes, Span } from '../core/work.ts';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;
const kindOf = ({ kind }: Operation): SpanKind => (kind ? KINDS[kind] : SpanKind.INTERNAL);

/** Traces by the SDK of OpenTelemetry. Its own context is not used: `core/work.ts` carries the spans. */
export class OtelTracer implements Tracer {
  readonly #tracer: OtelSdkTracer;
  readonly #root: Sampler;

  /** @param root decides about traces of callers that are not trusted to decide */
  constructor(tracer: OtelSdkTracer, root: Sampler) {
    this.#tracer = tracer;
    this.#root = root;
  }

  begin(root: Root): Span {
    return this.#start(root, this.#contextOf(root), linksOf(root));
  }

  beginStep(parent: Span, step: Operation): Span {
    return this.#start(step, parent instanceof TracedSpan ? parent.context : ROOT_CONTEXT, []);
  }

  #start(operation: Operation, context: Context, links: Link[]): Span {
    const { name, attributes = {} } = operation;
    const span = this.#tracer.startSpan(name, { kind: kindOf(operation), attributes, links }, context);
    return new TracedSpan(span, context);
  }

  /** Continues the trace of the caller. A caller that is not a trusted proxy does not decide whether it is exported. */
  #contextOf({ name, caller }: Root): Context {
    const parent = caller && parseTraceParent(caller.traceparent);
    if (!parent) return ROOT_CONTEXT;
    const { traceId, spanId } = parent;
    const traceFlags = caller.isTrusted ? parent.traceFlags : this.#decide(traceId, name);
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
  }

  #decide(traceId: string, name: string): TraceFlags {
    const { decision } = this.#root.shouldSample(ROOT_CONTEXT, traceId, name, SpanKind.SERVER, {}, []);
    return decision === SamplingDecision.RECORD_AND_SAMPLED ? TraceFlags.SAMPLED : TraceFlags.NONE;
  }
}

function linksOf({ madeBy }: Root): Link[] {
  const context = madeBy && parseTraceParent(madeBy);
  return context ? [{ context: { ...context, isRemote: true } }] : [];
}

class TracedSpan implements Span {
  readonly #span: OtelSpan;
  readonly #outer: Context;
  readonly #isSampled: boolean;

  constructor(span: OtelSpan, outer: Context) {
    this.#span = span;
    this.#outer = outer;
    this.#isSampled = (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
  }

  /** For its steps. */
  get context(): Context {
    return trace.setSpan(this.#outer, this.#span);
  }

  get isRecorded(): boolean {
    return this.#span.isRecording();
  }

  get traceId(): string | undefined {
    return this.#isSampled ? this.#span.spanContext().traceId : undefined;
  }

  get traceparent(): string | undefined {
    const { traceId, spanId } = this.#span.spanContext();
    return this.#isSampled ? `00-${traceId}-${spanId}-01` : undefined;
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  note(event: string): void {
    this.#span.addEvent(event);
  }

  /** Notes the code of an error, never its message, which may quote what the caller sent. */
  end(error?: unknown): void {
    if (!this.#span.isRecording()) return;
    if (error !== undefined) {
      const { status, body } = describeFailure(error, '');
      this.#span.setAttribute('error.type', body.code);
      if (status >= 500) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}
