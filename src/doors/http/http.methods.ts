import type { FastifyInstance } from 'fastify';

/** What is answered where, over all routes of all doors. */
export interface KnownMethods {
  /** The methods that are answered at the path of a URL; empty for an unknown path. */
  at(url: string): string[];
  /**
   * Whether the router gave a URL to a route that it is not meant for: `/things/:id` takes `GET /things/create` where only
   * `POST` is answered.
   */
  isSwallowed(route: string | undefined, url: string): boolean;
}

interface Path {
  url: string;
  pattern: RegExp;
  methods: Set<string>;
}

/**
 * Notes every route added from now on, whichever door adds it, for `405` and its `Allow`. Where several paths fit, the one
 * counts that says most, as the router has it too: words before parameters, from the left.
 */
export function collectMethods(app: FastifyInstance): KnownMethods {
  const paths = new Map<string, Path>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url === '*') return;
    const path = paths.get(url) ?? { url, pattern: patternOf(url), methods: new Set() };
    for (const name of [method].flat()) path.methods.add(name);
    paths.set(url, path);
  });
  /** For each route the paths that are nearer where both fit; of most routes there are none. */
  const nearer = new Map<string, Path[]>();
  const nearerThan = (route: string): Path[] => {
    const found = nearer.get(route) ?? [...paths.values()].filter(({ url }) => mayHide(url, route));
    nearer.set(route, found);
    return found;
  };
  return {
    at(url) {
      const fitting = [...paths.values()].filter((path) => fits(path, url));
      const [nearest] = fitting.sort(byNearness);
      return [...(nearest?.methods ?? [])].sort();
    },
    isSwallowed: (route, url) => route !== undefined && nearerThan(route).some((path) => fits(path, url)),
  };
}

const fits = ({ pattern }: Path, url: string) => pattern.test(url.split('?', 1)[0] ?? '');

const isParameter = (segment: string) => segment.startsWith(':') || segment === '*';

/** A route's pattern (`/a/:id`, `/files/*`) as a regular expression, with the trailing slash left open. */
function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) =>
      segment === '*' ? '.*' : isParameter(segment) ? '[^/]+' : segment.replaceAll(/[^\w-]/g, '\\$&'),
    )
    .join('/');
  return new RegExp(`^${source}/?$`);
}

/** Words come before parameters, from the left. */
function byNearness(one: Path, other: Path): number {
  const ranks = [one, other].map(({ url }) =>
    url
      .split('/')
      .map((segment) => (segment === '*' ? 2 : isParameter(segment) ? 1 : 0))
      .join(''),
  );
  return (ranks[0] ?? '').localeCompare(ranks[1] ?? '');
}

/** Whether a path has a word where a route, as long and until there the same, has a parameter. */
function mayHide(path: string, route: string): boolean {
  const [words, others] = [path.split('/'), route.split('/')];
  const at = words.findIndex((word, n) => word !== others[n]);
  if (words.length !== others.length || at === -1) return false;
  const isMatch = (word: string, n: number) =>
    word === others[n] || isParameter(word) || isParameter(others[n] ?? '');
  return !isParameter(words[at] ?? '') && isParameter(others[at] ?? '') && words.every(isMatch);
}
