import type { Configuration } from '../../configs/settings/configs.schema.ts';
import { cutPath, type Reach } from '../../core/access.ts';
import { AppError } from '../../core/errors.ts';

/** A path that a key may reach, with all paths below it. */
type Endpoint = readonly string[];

/**
 * Normalises a path for comparison: split at slashes, without the version, in lower case like the ids in it.
 * So `/api/v1/channels/` equals `/api/channels`, and neither is a prefix of `/api/channelsx`.
 */
export function toEndpoint(path: string): Endpoint {
  const segments = cutPath(path.trim().toLowerCase());
  return segments[0] === 'api' && segments[1] === 'v1' ? ['api', ...segments.slice(2)] : segments;
}

const isBelow = (path: readonly string[], endpoint: Endpoint) =>
  endpoint.every((segment, index) => path[index]?.toLowerCase() === segment);

const isAmong = (reach: Reach, endpoints: readonly Endpoint[]) =>
  reach.some((path) => endpoints.some((endpoint) => isBelow(path, endpoint)));

type Restriction = Configuration['auth']['api_key'];
/** Cached, because every call with a key needs it. A configuration object is never modified. */
const configured = new WeakMap<Restriction, readonly Endpoint[]>();

function configuredEndpoints(restriction: Restriction): readonly Endpoint[] {
  let endpoints = configured.get(restriction);
  if (!endpoints) {
    const entries = restriction.allowed_endpoints.split(',').filter((entry) => entry.trim() !== '');
    endpoints = entries.map(toEndpoint);
    configured.set(restriction, endpoints);
  }
  return endpoints;
}

/**
 * Refuses a path that the configuration or the key's own list does not allow. An empty list in the
 * configuration allows nothing.
 *
 * @param own null if the key has no list
 * @throws endpoint_forbidden
 */
export function requireReach(
  restriction: Restriction,
  own: readonly Endpoint[] | null,
  ask: () => Reach | Promise<Reach>,
): void | Promise<void> {
  const lists = [
    ...(restriction.endpoint_restrictions ? [configuredEndpoints(restriction)] : []),
    ...(own ? [own] : []),
  ];
  if (lists.length === 0) return;
  const decide = (reach: Reach) => {
    if (!lists.every((endpoints) => isAmong(reach, endpoints))) throw new AppError('endpoint_forbidden');
  };
  const reach = ask();
  return reach instanceof Promise ? reach.then(decide) : decide(reach);
}
