import type { Configuration } from '../../configs/settings/configs.schema.ts';
import { cutPath, type Reach } from '../../core/access.ts';
import { AppError } from '../../core/errors.ts';

/** A path that keys are bound to, with all below it. */
type Endpoint = readonly string[];

/**
 * A path as it is compared: cut at its slashes, the version left out, in lower case as the ids are that it may name. So
 * `/api/v1/channels/` and `/api/channels` are the same, and neither is the beginning of `/api/channelsx`.
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
/** Every call with a key asks; a configuration is never changed in place. */
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
 * Refuses what a key may not reach: by the configuration, whose empty list allows nothing, or by the key's own list.
 *
 * @param own null when the key is not bound
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
