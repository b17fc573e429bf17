import { lookup as askMachine } from 'node:dns/promises';
import { connect, isIP, type TcpNetConnectOpts } from 'node:net';
import type { Response as UndiciResponse } from 'undici';
import { AppError } from '../core/errors.ts';
import { hostOf, isNotPublic, refused } from './addresses.ts';
import { isMetadata, type Reachable, reachable } from './allowed.ts';
import { lookupWith } from './lookup.ts';

export interface WayOptions {
  /** The most bytes of one answer; a longer one fails. */
  maxBytes: number;
}

/** A way to one server. */
export interface Way {
  /** Like the platform's `fetch`, but only for addresses of this server. A redirect is returned as the answer. */
  fetch: typeof globalThis.fetch;
  /** The addresses of the name. @throws the error of the system */
  resolve(): Promise<string[]>;
  /** Opens a connection and closes it. @throws the error of the system, upstream_timeout */
  probe(timeoutMs: number): Promise<void>;
  close(): void;
}

/**
 * The name is looked up as other programs of the machine do. There is no time limit here: a stream may pause, and its reader knows for
 * how long. Addresses where clouds give credentials must be on the operator's list.
 */
export function openWay(address: string, { maxBytes }: WayOptions, operators: Reachable): Way {
  const { origin, ...url } = parse(address);
  const listed = reachable([url.host]);
  const isRefused = isIP(url.host) !== 0 && isMetadata(url.host) && !operators.hasAddress(url.host);
  const lookup = lookupWith({
    listed,
    hasAddress: listed.hasAddress,
    resolve: () => Promise.reject(isNotPublic(url.host)),
  });
  // Loaded for the first call, as in `egress.ts`.
  const load = async () => {
    const { Agent, fetch } = await import('undici');
    const agent = new Agent({
      connect: { lookup },
      maxResponseSize: maxBytes,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return { fetch, agent };
  };
  let opened: ReturnType<typeof load> | undefined;
  return {
    async fetch(input, init) {
      const target = new URL(input instanceof Request ? input.url : input);
      if (target.origin !== origin) throw refused(`${target.host} is another server than ${url.host}.`);
      if (isRefused) throw isNotPublic(url.host);
      opened ??= load();
      const { fetch, agent } = await opened;
      const headers = new Headers(init?.headers);
      headers.set('accept-encoding', 'identity');
      const request = { ...init, headers, redirect: 'manual', dispatcher: agent };
      const response = await fetch(target, request as unknown as Parameters<typeof fetch>[1]);
      await refuseCompressed(response);
      return response as unknown as Response;
    },
    resolve: async () => (await askMachine(url.host, { all: true })).map(({ address: found }) => found),
    probe: async (timeoutMs) => {
      if (isRefused) throw isNotPublic(url.host);
      await probe({ host: url.host, port: url.port, lookup, timeout: timeoutMs });
    },
    close: () => void opened?.then(({ agent }) => agent.destroy()).catch(() => {}),
  };
}

/** Refuses a compressed answer: the limit counts the bytes of the network. */
async function refuseCompressed({ headers, body }: Pick<UndiciResponse, 'headers' | 'body'>): Promise<void> {
  if ((headers.get('content-encoding') ?? 'identity') === 'identity') return;
  await body?.cancel();
  throw new AppError('upstream_failed', { detail: 'Its answer is compressed, which was not asked for.' });
}

function parse(address: string): { origin: string; host: string; port: number } {
  const url = URL.parse(address);
  if (!url) throw new AppError('address_refused', { detail: 'That is not a complete address.' });
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { origin: url.origin, host: hostOf(url), port };
}

function probe(target: TcpNetConnectOpts): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(target);
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.once('connect', () => end(resolve));
    socket.once('timeout', () => end(() => reject(new AppError('upstream_timeout'))));
    socket.once('error', (error) => end(() => reject(error)));
  });
}
