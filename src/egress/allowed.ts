import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { hostOf, isPublicAddress } from './addresses.ts';

/** The addresses that this server may connect to: the public network, and the operator's list. */
export interface Reachable {
  /** Whether an address, as sockets write it, may be connected to. */
  hasAddress(address: string): boolean;
  /** Whether a name, as `hostOf` writes it, is on the list. Such a name may lead to addresses that are not on the list. */
  hasName(name: string): boolean;
  /** Whether an address of a name on the list may be connected to. */
  mayBeNamed(address: string): boolean;
}

/** Here clouds give credentials to every program of a machine. Only an address itself on the list allows it, not a network. */
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
/** An IPv6 address that maps an IPv4 address reaches the IPv4 address. */
export const isMetadata = (address: string) => METADATA.has(ipaddr.process(address).toString());

const isAddress = (entry: string) => isIP(entry) !== 0;
/** Not `isValidCIDR` alone, which accepts `10.0.0/8`. */
const isNetwork = (entry: string) => isAddress(entry.split('/', 1)[0] ?? '') && ipaddr.isValidCIDR(entry);

/** A host name as URLs write it, lower-cased and in ASCII; undefined for other text. */
function readName(entry: string): string | undefined {
  const url = /^[\p{L}\p{M}\p{N}._-]+$/u.test(entry) ? URL.parse(`http://${entry}/`) : null;
  const name = url ? hostOf(url) : '';
  return name !== '' && !isAddress(name) ? name : undefined;
}

/** Whether `EGRESS_ALLOW` may hold this text: an address, a network, or a host name. */
export const isAllowable = (entry: string): boolean =>
  isAddress(entry) || isNetwork(entry) || readName(entry) !== undefined;

/** @param entries accepted by `isAllowable` */
export function reachable(entries: readonly string[] = []): Reachable {
  const addresses = new Set(entries.filter(isAddress).map((entry) => ipaddr.parse(entry).toString()));
  const networks = entries.filter(isNetwork).map((entry) => ipaddr.parseCIDR(entry));
  const names = new Set(entries.map(readName));
  /** An address that stands for another one (mapped, translated) is of another kind, so it is in none of the networks. */
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
