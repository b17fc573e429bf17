import ipaddr from 'ipaddr.js';

/**
 * The network that counts as one caller: an IPv4 address, or the half of an IPv6 address that providers give
 * to one customer.
 */
export function toNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.range() === 'loopback') return 'loopback';
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}
