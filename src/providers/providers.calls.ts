import { beginStep, type Operation } from '../core/tracing.ts';
import { currentRequestId, type Span } from '../core/work.ts';
import type { Connected } from './connections.settings.ts';

/** An id of a provider is logged as it came, up to this length. */
const MOST_CHARACTERS = 128;

/** One call of a provider, as logs and traces show it. */
export interface ToldCall {
  /** Names our request in the log of the provider. */
  readonly headers: Record<string, string>;
  /** The id that the provider gave the call; undefined while it has given none. */
  readonly id: string | undefined;
  readonly span: Span | undefined;
  hear(headers: Headers | undefined): void;
}

/**
 * The request id goes to every provider, under the names that OpenAI (`X-Client-Request-Id`) and most others read. The trace context goes
 * only to a connection of the type `local`: others would learn which calls of the operator belong together.
 */
export function tellCall(settings: Connected, operation: 'chat' | 'embeddings', model: string): ToldCall {
  const span = beginStep(() => describe(settings, operation, model));
  const requestId = currentRequestId();
  let id: string | undefined;
  return {
    headers: {
      ...(requestId && { 'x-request-id': requestId, 'x-client-request-id': requestId }),
      ...(settings.connectionType === 'local' && span?.traceparent && { traceparent: span.traceparent }),
    },
    get id() {
      return id;
    },
    span,
    hear(headers) {
      const told = headers?.get('x-request-id') ?? headers?.get('request-id');
      if (!told) return;
      id = told.slice(0, MOST_CHARACTERS);
      span?.set({ 'parley.provider.request_id': id });
    },
  };
}

/** By OpenTelemetry's conventions for generative models, without texts. */
const describe = ({ name, baseUrl }: Connected, operation: string, model: string): Operation => ({
  name: `${operation} ${model}`,
  kind: 'client',
  attributes: {
    'gen_ai.operation.name': operation,
    'gen_ai.request.model': model,
    'parley.connection': name,
    ...(URL.canParse(baseUrl) && { 'server.address': new URL(baseUrl).hostname }),
  },
});
