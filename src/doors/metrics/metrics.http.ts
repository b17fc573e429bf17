import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Histogram } from 'prom-client';

const durations = new Histogram({
  name: 'parley_http_request_duration_seconds',
  help: 'Answered HTTP requests by method, pattern of the path, and class of the status',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
});

/** The route of all unknown paths: a label for each would grow without bound. */
const UNKNOWN = 'unknown';
/** Node's parser accepts further methods; they are counted as `other`. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

type Child = ReturnType<typeof durations.labels>;

/** Counts every answered request from now on, by the pattern of its path, never by the path. */
export function countRequests(app: FastifyInstance): void {
  /** By method, status and pattern: routes bound their number. */
  const children = new Map<string, Child>();

  function childOf({ method, is404, routeOptions }: FastifyRequest, { statusCode }: FastifyReply): Child {
    const pattern = is404 ? undefined : routeOptions.url;
    const key = `${method} ${statusCode} ${pattern}`;
    let child = children.get(key);
    if (!child) {
      child = durations.labels({
        method: METHODS.has(method) ? method : 'other',
        route: pattern === undefined ? UNKNOWN : pattern,
        status: `${Math.floor(statusCode / 100)}xx`,
      });
      children.set(key, child);
    }
    return child;
  }

  app.addHook('onResponse', (request, reply, done) => {
    childOf(request, reply).observe(reply.elapsedTime / 1000);
    done();
  });
}
