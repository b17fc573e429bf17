import type { FastifyInstance } from 'fastify';
import createPaths from 'find-my-way';

/**
 * Notes every route added from now on, whichever door adds it, for `405` and its `Allow`. A second router holds each path once,
 * whatever its methods: Fastify's own has one tree for each method, and there `GET /channels/create`, which answers only
 * `POST`, would be taken for `/channels/:id`.
 *
 * @param options those of Fastify's router
 * @returns the methods that the path of a URL answers; empty for an unknown path
 */
export function collectMethods(
  app: FastifyInstance,
  options: { ignoreTrailingSlash: boolean; maxParamLength: number },
): (url: string) => ReadonlySet<string> {
  const paths = new Map<string, Set<string>>();
  const router = createPaths(options);
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    // Paths that differ in the names of parameters alone are one.
    const pattern = url.replaceAll(/:\w+/g, ':p').replace(/(?<=.)\/$/, '');
    const methods = paths.get(pattern) ?? new Set();
    if (!paths.has(pattern)) router.on('GET', pattern, () => {}, methods);
    paths.set(pattern, methods);
    for (const name of [method].flat()) methods.add(name);
  });
  return (url) =>
    // `OPTIONS *` names no path; the router would take it for the root.
    (url === '*' ? undefined : (router.find('GET', url)?.store as Set<string> | undefined)) ?? NONE;
}

const NONE: ReadonlySet<string> = new Set();
