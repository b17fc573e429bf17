import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AppError } from '../core/errors.ts';

/** The platform service of a large cloud: a public address by its range, but served inside that cloud. */
const PLATFORM: ReadonlySet<string> = new Set(['168.63.129.16']);

/** The range of the public IPv6 network (RFC 4291, IANA's registry). */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address belongs to the public network. Addresses of this machine, of private, shared and reserved networks, and
 * addresses that stand for others (mapped, translated, tunnelled) do not.
 *
 * @param address IPv4 or IPv6, as sockets write it
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || PLATFORM.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(PUBLIC_IPV6);
}

/** Names that no public server has (RFC 6761, RFC 6762, RFC 8375, and ICANN's names for private use). */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

export const refused = (detail: string, cause?: unknown) =>
  new AppError('address_refused', { detail, cause });

export const isNotPublic = (host: string) =>
  refused(
    `${host} is no public address. Only servers on the public network may be called, and those of EGRESS_ALLOW.`,
  );

/** A name without the trailing dot of the root. */
export const withoutRoot = (name: string): string => name.replace(/\.$/, '');

/** The host of a URL for name resolution: without the brackets of IPv6 and the trailing dot. */
export const hostOf = ({ hostname }: URL): string => withoutRoot(hostname.replace(/^\[(.*)\]$/, '$1'));

/**
 * Parses an address from a person. It is parsed once and only the result is used, so that no second parser finds another host.
 *
 * @param may decides about hosts that are addresses (written in any base), and about names that no public server has
 * @throws address_refused with the reason
 */
export function parseTarget(
  address: string,
  may: { hasAddress(address: string): boolean; hasName(name: string): boolean },
): URL {
  const url = URL.parse(address);
  if (!url) throw refused('That is not a complete address, such as https://example.com/path.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refused('Only http and https addresses can be called.');
  }
  if (url.username !== '' || url.password !== '') {
    throw refused('The address must not hold a user name or password.');
  }
  const host = hostOf(url);
  if (isIP(host) !== 0) {
    if (!may.hasAddress(host)) throw isNotPublic(host);
  } else if (!may.hasName(host) && (!host.includes('.') || PRIVATE_NAME.test(host))) {
    throw isNotPublic(host);
  }
  return url;
}
