import { lookup as askMachine, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import type { Headers, Response } from 'undici';
import project from '../../package.json' with { type: 'json' };
import { AppError } from '../core/errors.ts';
import { isNotPublic, parseTarget, refused, withoutRoot } from './addresses.ts';
import { reachable } from './allowed.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly egress: Egress;
  }
}

export interface EgressRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** The most that is read of the answer, after decompression. */
  maxBytes: number;
  /** What becomes of an answer that is longer: refused unless told. */
  excess?: 'refuse' | 'cut';
  /** For all of it: name resolution, redirects, and the answer's last byte. */
  timeoutMs: number;
  /** At most so many redirects are followed; 5 unless told. One more is given back as the answer that it is. */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface EgressResponse {
  /** Where the answer came from, after redirects. */
  url: string;
  status: number;
  headers: Headers;
  body: Buffer;
}

/** The one way from this server to addresses that people name. */
export interface Egress {
  /**
   * Calls an address of the public network, or one that the operator allows. Whatever status it answers is an answer.
   *
   * @throws address_refused, upstream_failed, upstream_timeout, answer_too_large; the signal's reason when that ended it
   */
  fetch(address: string, request: EgressRequest): Promise<EgressResponse>;
  /** Refuses an address that `fetch` would refuse without a request. @throws address_refused */
  check(address: string): URL;
  close(): Promise<void>;
}

export interface EgressOptions {
  /** What may be called beside the public network: addresses, networks (CIDR), and host names, which may lead anywhere. */
  allow?: readonly string[];
  /** All addresses of a name that is not listed. Asks the name servers unless told. */
  resolve?: (host: string) => Promise<string[]>;
  /** Which addresses may be connected to; those of the public network and the list unless told. */
  mayConnect?: (address: string) => boolean;
}

const AGENT = `Parley/${project.version}`;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
const RESOLVE = { timeout: 2_000, tries: 2 };
/** How long a connection is kept for the next request. Servers may ask for more, and people name any number of servers. */
const KEPT_MS = 4_000;

/**
 * Names are resolved once, where the connection is made, and the connection goes to what was checked there: no second answer of
 * a name server can lead elsewhere (`docs/decisions/egress.md`).
 */
export function createEgress({ allow, resolve = askNameServers, mayConnect }: EgressOptions = {}): Egress {
  const listed = reachable(allow);
  const { hasName } = listed;
  const hasAddress = mayConnect ?? listed.hasAddress;
  const lookup: LookupFunction = (host, options, callback) => {
    const name = withoutRoot(host);
    const isListed = hasName(name);
    const may = isListed ? listed.mayBeNamed : hasAddress;
    (isListed ? askThisMachine : resolve)(name).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        const [first] = found;
        if (!first) callback(notFound(host), '');
        else if (!addresses.every(may)) callback(isNotPublic(host), '');
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      () => callback(notFound(host), ''),
    );
  };
  // Not `EnvHttpProxyAgent`: a proxy would resolve names itself, past the check.
  const open = async () => {
    const { Agent, ...undici } = await import('undici');
    return { ...undici, agent: new Agent({ connect: { lookup }, keepAliveMaxTimeout: KEPT_MS }) };
  };
  /** Most servers never call another, and this library takes 30 MB: it is loaded for the first request. */
  let opened: ReturnType<typeof open> | undefined;
  const check = (address: string) => parseTarget(address, { hasAddress, hasName });

  async function follow(address: string, request: EgressRequest, signal: AbortSignal) {
    let url = check(address);
    opened ??= open();
    const { agent, fetch, Headers } = await opened;
    let { method = 'GET', body } = request;
    let headers = headersOf(Headers, request.headers);
    for (let redirects = 0; ; redirects += 1) {
      headers.set('user-agent', AGENT);
      const response = await fetch(url, {
        method,
        headers,
        body: body ?? null,
        dispatcher: agent,
        redirect: 'manual',
        signal,
      });
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
      if (location === null || redirects >= (request.maxRedirects ?? MAX_REDIRECTS)) {
        return { url: url.href, response };
      }
      await response.body?.cancel();
      const next = check(URL.parse(location, url.href)?.href ?? location);
      if (url.protocol === 'https:' && next.protocol === 'http:') {
        throw refused('It redirects from https to http.');
      }
      if (response.status !== 307 && response.status !== 308 && method === 'POST') {
        method = 'GET';
        body = undefined;
        headers.delete('content-type');
      }
      if (next.origin !== url.origin) {
        // What was meant for one server is no other's business.
        if (body !== undefined) throw refused('It redirects to another server, which must not get the body.');
        const accept = headers.get('accept');
        headers = new Headers(accept === null ? {} : { accept });
      }
      url = next;
    }
  }

  return {
    check,
    async fetch(address, request) {
      const timeout = AbortSignal.timeout(request.timeoutMs);
      const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
      try {
        const { url, response } = await follow(address, request, signal);
        const body = await readBody(response, request.maxBytes, request.excess ?? 'refuse');
        return { url, status: response.status, headers: response.headers, body };
      } catch (error) {
        request.signal?.throwIfAborted();
        throw translate(error, timeout);
      }
    },
    close: async () => (await opened)?.agent.destroy(),
  };
}

/** A line break in a value would begin a header of its own. */
function headersOf(Type: typeof Headers, given: Record<string, string> | undefined): Headers {
  try {
    return new Type(given);
  } catch (cause) {
    throw new AppError('bad_request', { detail: 'A header holds what no header can hold.', cause });
  }
}

const notFound = (host: string) =>
  new AppError('upstream_failed', { detail: `The name ${host} could not be found.` });

/**
 * Not `dns.lookup`: that waits in one of the few threads that files need too, as long as a name server likes. Files of the
 * machine and its search domains name no public servers.
 */
async function askNameServers(host: string): Promise<string[]> {
  const resolver = new Resolver(RESOLVE);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** A name that the operator lists is found as by any program of the machine: in its files, search domains and name servers. */
const askThisMachine = async (host: string): Promise<string[]> =>
  (await askMachine(host, { all: true })).map(({ address }) => address);

/** Counts what is unpacked, so that a small answer cannot become a large one here. */
async function readBody(response: Response, maxBytes: number, excess: 'refuse' | 'cut'): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > maxBytes) {
      if (excess === 'cut') break;
      throw new AppError('answer_too_large', {
        detail: `The other server sent more than the ${maxBytes} bytes that are accepted.`,
      });
    }
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** Libraries wrap what happened; a cause that we made ourselves says it best. */
function translate(error: unknown, timeout: AbortSignal): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AppError) return cause;
    // The fetch standard keeps a list of ports that speak other protocols.
    if (cause.message === 'bad port') return refused('That port is not for http.', error);
  }
  if (timeout.aborted) return new AppError('upstream_timeout', { cause: error });
  return new AppError('upstream_failed', { cause: error });
}
