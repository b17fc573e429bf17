import type { FastifyInstance } from 'fastify';
import createPaths from 'find-my-way';

/**
 * Records every route that is added from now on, by any door, for `405` and its `Allow`. A second router holds each path once with
 * all its methods: Fastify's router has one tree for each method, so `GET /channels/create`, which answers only `POST`, would match
 * `/channels/:id`. It is made for the first unknown path.
 *
 * @param options those of Fastify's router
 * @returns the methods that the path of a URL answers; empty for an unknown path
 */
export function collectMethods(
  app: FastifyInstance,
  options: { ignoreTrailingSlash: boolean; maxParamLength: number },
): (url: string) => ReadonlySet<string> {
  const paths = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    // Paths that differ only in the names of parameters are the same.
    const pattern = url.replaceAll(/:\w+/g, ':p').replace(/(?<=.)\/$/, '');
    const methods = paths.get(pattern) ?? new Set();
    paths.set(pattern, methods);
    for (const name of [method].flat()) methods.add(name);
  });
  let made: ReturnType<typeof createPaths> | undefined;
  function makeRouter() {
    const router = createPaths(options);
    for (const [pattern, methods] of paths) router.on('GET', pattern, () => {}, methods);
    return router;
  }
  return (url) => {
    // `OPTIONS *` names no path; the router would take it for the root.
    if (url === '*') return NONE;
    made ??= makeRouter();
    return (made.find('GET', url)?.store as Set<string> | undefined) ?? NONE;
  };
}

const NONE: ReadonlySet<string> = new Set();
