import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { hostOf, isPublicAddress } from './addresses.ts';

/** Where this server may connect to: the public network, and what its operator lists beside that. */
export interface Reachable {
  /** Whether an address may be connected to, given as sockets write it. */
  hasAddress(address: string): boolean;
  /** Whether a name is listed itself, so that it may lead to addresses that are not. Given as `hostOf` writes it. */
  hasName(name: string): boolean;
  /** Whether what a listed name leads to may be connected to. */
  mayBeNamed(address: string): boolean;
}

/** Where clouds give their credentials to any program that asks from inside; a whole network that holds one does not mean it. */
const METADATA: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::23',
  'fd00:ec2::254',
  'fd20:ce::254',
]);
/** An IPv6 address that maps one of IPv4 reaches that very one. */
const isMetadata = (address: string) => METADATA.has(ipaddr.process(address).toString());

const isAddress = (entry: string) => isIP(entry) !== 0;
/** Not `isValidCIDR` alone, to which `10.0.0/8` is a network, too. */
const isNetwork = (entry: string) => isAddress(entry.split('/', 1)[0] ?? '') && ipaddr.isValidCIDR(entry);

/** How a host name is compared: as URLs have it, lower-cased and in ASCII; undefined for what is none. */
function readName(entry: string): string | undefined {
  const url = /^[\p{L}\p{M}\p{N}._-]+$/u.test(entry) ? URL.parse(`http://${entry}/`) : null;
  const name = url ? hostOf(url) : '';
  return name !== '' && !isAddress(name) ? name : undefined;
}

/** Whether `EGRESS_ALLOW` may hold that: an address, a network, or a host name. */
export const isAllowable = (entry: string): boolean =>
  isAddress(entry) || isNetwork(entry) || readName(entry) !== undefined;

/** @param entries what `isAllowable` holds for */
export function reachable(entries: readonly string[] = []): Reachable {
  const addresses = new Set(entries.filter(isAddress).map((entry) => ipaddr.parse(entry).toString()));
  const networks = entries.filter(isNetwork).map((entry) => ipaddr.parseCIDR(entry));
  const names = new Set(entries.map(readName));
  /** One that stands for another (mapped, translated) is none of the other's kind, and so in none of its networks. */
  const isInside = (address: ReturnType<typeof ipaddr.parse>) =>
    networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
  return {
    hasAddress(address) {
      if (isPublicAddress(address)) return true;
      if (!isAddress(address)) return false;
      const parsed = ipaddr.parse(address);
      const plain = parsed.toString();
      return addresses.has(plain) || (!isMetadata(plain) && isInside(parsed));
    },
    hasName: (name) => names.has(name),
    mayBeNamed(address) {
      const plain = isAddress(address) ? ipaddr.parse(address).toString() : '';
      return plain !== '' && (addresses.has(plain) || !isMetadata(plain));
    },
  };
}
