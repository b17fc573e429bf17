import { type IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '../../core/json/json.ts';

/** Headers of every answer, unless its route sets its own. JSON needs nothing that these forbid. */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

const REQUEST_ID = Symbol('request id');
interface IdentifiedRequest extends IncomingMessage {
  [REQUEST_ID]?: string;
}

/** A request id that callers may choose: short, and harmless in a header and in a log line. */
const ACCEPTABLE_ID = /^[\w.-]{1,64}$/;

const processId = Math.random().toString(36).slice(2, 8).padEnd(6, '0');
let requestCount = 0;

/** The id of a request: the caller's `X-Request-Id` where it is acceptable, else a new one. */
export function requestIdOf(request: IdentifiedRequest): string {
  const known = request[REQUEST_ID];
  if (known !== undefined) return known;
  const offered = request.headers['x-request-id'];
  const id = typeof offered === 'string' && ACCEPTABLE_ID.test(offered) ? offered : nextRequestId();
  request[REQUEST_ID] = id;
  return id;
}

/** Unique enough for the logs of a deployment; not a secret. */
export function nextRequestId(): string {
  requestCount += 1;
  return `${processId}-${requestCount.toString(36)}`;
}

const arrivals = new WeakMap<IncomingMessage, number>();

/** Notes when an upgrade arrived: it has no response object that would keep the time. */
export const noteArrival = (request: IncomingMessage): void => {
  arrivals.set(request, performance.now());
};

/** The headers of every answer, for the answer to an upgrade. */
export const upgradeHeaders = (request: IncomingMessage): Record<string, string> => ({
  'x-request-id': requestIdOf(request),
  'x-process-time': processTime(arrivals.get(request) ?? performance.now()),
});

/** Seconds with microsecond digits, as `X-Process-Time` has them. */
const processTime = (startedAtMs: number) => ((performance.now() - startedAtMs) / 1000).toFixed(6);

type Head = Parameters<ServerResponse['writeHead']>;

/**
 * The response class of the whole server. Headers that belong on *every* answer are added where Node writes the
 * head: no door, hook order or early failure (a bad URL, a preflight, Socket.IO's polling) can miss them.
 */
export class TimedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  readonly #startedAtMs = performance.now();

  override writeHead(...head: unknown[]): this {
    const headers = head.at(-1);
    // Fastify passes all headers as one object of its own. Adding to it spares Node a merge.
    if (isObject(headers) && this.getHeaderNames().length === 0) this.#addTo(headers);
    else this.#set();
    return super.writeHead(...(head as Head));
  }

  #addTo(headers: Record<string, unknown>) {
    headers['x-request-id'] = requestIdOf(this.req);
    headers['x-process-time'] = processTime(this.#startedAtMs);
    for (const name in SECURITY_HEADERS) {
      headers[name] ??= SECURITY_HEADERS[name as keyof typeof SECURITY_HEADERS];
    }
  }

  #set() {
    this.setHeader('x-request-id', requestIdOf(this.req));
    this.setHeader('x-process-time', processTime(this.#startedAtMs));
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!this.hasHeader(name)) this.setHeader(name, value);
    }
  }
}
