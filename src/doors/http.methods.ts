import type { FastifyInstance } from 'fastify';

/** The methods that any route answers at the path of a URL; empty for an unknown path. */
export type AllowedMethods = (url: string) => string[];

/**
 * Notes every route added from now on, whichever door adds it, for `405` and its `Allow`. Read only when no route
 * took the request, so a plain list will do.
 */
export function collectMethods(app: FastifyInstance): AllowedMethods {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const name of [method].flat()) route.methods.add(name);
    routes.set(url, route);
  });
  return (url) => {
    const path = url.split('?', 1)[0] ?? '';
    const matching = [...routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
  };
}

/** A route's pattern (`/a/:id`, `/files/*`) as a regular expression, with the trailing slash left open. */
function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) =>
      segment.startsWith(':') ? '[^/]+' : segment === '*' ? '.*' : segment.replaceAll(/[^\w-]/g, '\\$&'),
    )
    .join('/');
  return new RegExp(`^${source}/?$`);
}
