import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { stringifySetCookie } from 'cookie';
import ipaddr from 'ipaddr.js';
import type { Env } from '../../env.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly entrance: Entrance;
  }
}

/** The proxies in front of the server: how addresses are read and cookies are written. */
export interface Entrance {
  /** The network address of the caller. */
  addressOf(raw: IncomingMessage): string;
  isHttps(raw: IncomingMessage): boolean;
  /** Whether a trusted proxy has sent the request. */
  isFromProxy(raw: IncomingMessage): boolean;
  /** A cookie that scripts cannot read, as the text of its header. */
  cookie(raw: IncomingMessage, name: string, value: string, expires: Date | undefined): string;
}

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

const toNetwork = (entry: string): Network => {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
};

const isWithin = (address: string, networks: readonly Network[]): boolean => {
  const parsed = ipaddr.process(address);
  return networks.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits));
};

/** How long the list of this machine's addresses is reused. */
const INTERFACES_MS = 10_000;
let own = { addresses: new Set<string>(), at: Number.NEGATIVE_INFINITY };

/** Whether an address belongs to this machine. Its tools have the same addresses. */
function isOwn(address: string): boolean {
  if (ipaddr.process(address).range() === 'loopback') return true;
  const now = performance.now();
  if (now - own.at > INTERFACES_MS) {
    const interfaces = Object.values(networkInterfaces()).flatMap((of = []) => of);
    own = { addresses: new Set(interfaces.map((one) => plain(one.address))), at: now };
  }
  return own.addresses.has(address);
}

type EntranceEnv = Pick<
  Env,
  'TRUSTED_PROXIES' | 'PROXY_SECRET' | 'AUTH_COOKIE_SAME_SITE' | 'AUTH_COOKIE_SECURE'
>;

/** Finds the address of the caller behind trusted proxies. `X-Forwarded-For` of any other sender is ignored. */
export function createEntrance(env: EntranceEnv): Entrance {
  const proxies = env.TRUSTED_PROXIES.map(toNetwork);
  const { AUTH_COOKIE_SAME_SITE: sameSite, AUTH_COOKIE_SECURE: secure } = env;
  const secret = env.PROXY_SECRET === undefined ? undefined : digest(env.PROXY_SECRET);

  function showsSecret({ headers }: IncomingMessage): boolean {
    const shown = headers['x-proxy-secret'];
    return secret !== undefined && typeof shown === 'string' && timingSafeEqual(digest(shown), secret);
  }

  /** Whether a request comes from a trusted proxy. One with an address of this machine must show the secret. */
  const isFromProxy = (raw: IncomingMessage, peer: string): boolean =>
    peer !== '' && isWithin(peer, proxies) && (!isOwn(peer) || showsSecret(raw));

  /**
   * Believes `X-Forwarded-Proto` from every caller when no proxies are named: a caller that lies gets a cookie that works for https
   * only, and a page of another site cannot send the header without a preflight.
   */
  function isHttps(raw: IncomingMessage): boolean {
    if ('encrypted' in raw.socket) return true;
    if (proxies.length > 0 && !isFromProxy(raw, plain(raw.socket.remoteAddress ?? ''))) return false;
    const forwarded = raw.headers['x-forwarded-proto'];
    return typeof forwarded === 'string' && /^https\b/i.test(forwarded);
  }

  return {
    addressOf(raw) {
      const peer = plain(raw.socket.remoteAddress ?? '');
      if (proxies.length === 0 || !isFromProxy(raw, peer)) return peer;
      // Each proxy appends the address of its sender: the last one that is no proxy is the caller. Earlier entries may be forged.
      const header = raw.headers['x-forwarded-for'];
      const hops = (Array.isArray(header) ? header.join() : (header ?? '')).split(',').reverse();
      let caller = peer;
      for (const hop of hops) {
        const address = withoutPort(hop.trim());
        if (isIP(address) === 0) break;
        caller = plain(address);
        // A tool may call through the proxy, too.
        if (!isWithin(caller, proxies) || isOwn(caller)) break;
      }
      return caller;
    },
    isHttps,
    isFromProxy: (raw) => proxies.length > 0 && isFromProxy(raw, plain(raw.socket.remoteAddress ?? '')),
    cookie: (raw, name, value, expires) =>
      stringifySetCookie({
        name,
        value,
        httpOnly: true,
        sameSite,
        path: '/',
        // Browsers drop `SameSite=None` cookies without `Secure`.
        secure: secure === 'auto' ? sameSite === 'none' || isHttps(raw) : secure,
        ...(expires && { expires }),
      }),
  };
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Some proxies append the port. */
const withoutPort = (hop: string): string => hop.replace(/^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2');

/** A dual-stack socket shows IPv4 addresses as IPv6. */
const plain = (address: string): string =>
  isIP(address) === 6 ? ipaddr.process(address).toString() : address;
