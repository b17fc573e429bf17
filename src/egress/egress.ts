import type { LookupFunction } from 'node:net';
import type { Headers, Response } from 'undici';
import project from '../../package.json' with { type: 'json' };
import { AppError } from '../core/errors.ts';
import { parseTarget, refused } from './addresses.ts';
import { reachable } from './allowed.ts';
import { askNameServers, lookupWith } from './lookup.ts';
import { openWay, type Way, type WayOptions } from './way.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly egress: Egress;
  }
}

export interface EgressRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** The most bytes of the answer that are read, after decompression. */
  maxBytes: number;
  /** What happens to a longer answer: refused by default. */
  excess?: 'refuse' | 'cut';
  /** For the whole exchange: name resolution, redirects, and the answer to its last byte. */
  timeoutMs: number;
  /** How many redirects are followed; 5 by default. The next one is returned as the answer. */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface EgressResponse {
  /** The address that answered, after redirects. */
  url: string;
  status: number;
  headers: Headers;
  body: Buffer;
}

/** The only way from this server to addresses that people give it. */
export interface Egress {
  /**
   * Calls an address of the public network, or one that the operator allows. An answer of any status is returned.
   *
   * @throws address_refused, upstream_failed, upstream_timeout, answer_too_large; the signal's reason when that ended it
   */
  fetch(address: string, request: EgressRequest): Promise<EgressResponse>;
  /** Refuses an address that `fetch` would refuse without a request. @throws address_refused */
  check(address: string): URL;
  /**
   * Opens a way to one server that an administrator has configured. The configuration allows it at any address. Its answers may be
   * streams.
   * The caller closes it.
   */
  open(address: string, options: WayOptions): Way;
  close(): Promise<void>;
}

export interface EgressOptions {
  /** Targets in addition to the public network: addresses, networks (CIDR), and host names, which may lead to any address. */
  allow?: readonly string[];
  /** Resolves a name that is not on the list to all its addresses. By default it asks the name servers. */
  resolve?: (host: string) => Promise<string[]>;
  /** The addresses that may be connected to; by default the public network and the list. */
  mayConnect?: (address: string) => boolean;
}

const AGENT = `Parley/${project.version}`;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
/** How long a connection stays open for the next request, even if the server offers more: callers may name any number of servers. */
const KEPT_MS = 4_000;

/**
 * A name is resolved once, when the connection is made, and the connection goes to the checked addresses. So a second answer of
 * a name server cannot lead to another address (`docs/decisions/egress.md`).
 */
export function createEgress({ allow, resolve = askNameServers, mayConnect }: EgressOptions = {}): Egress {
  const listed = reachable(allow);
  const { hasName } = listed;
  const hasAddress = mayConnect ?? listed.hasAddress;
  const library = openLibrary(lookupWith({ listed, hasAddress, resolve }));
  const check = (address: string) => parseTarget(address, { hasAddress, hasName });
  return {
    check,
    async fetch(address, request) {
      const timeout = AbortSignal.timeout(request.timeoutMs);
      const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
      try {
        const url = check(address);
        const exchange = new Exchange(url, request, { library: await library.open(), check, signal });
        const response = await exchange.follow();
        const body = await readBody(response, request.maxBytes, request.excess ?? 'refuse');
        return { url: exchange.url.href, status: response.status, headers: response.headers, body };
      } catch (error) {
        request.signal?.throwIfAborted();
        throw translate(error, timeout);
      }
    },
    open: (address, options) => openWay(address, options, listed),
    close: library.close,
  };
}

/** Loaded for the first request: most servers never call another server, and the library takes 30 MB. */
function openLibrary(lookup: LookupFunction) {
  const load = async () => {
    const { Agent, fetch, Headers } = await import('undici');
    // Not `EnvHttpProxyAgent`: a proxy would resolve names itself, without the check.
    return { fetch, Headers, agent: new Agent({ connect: { lookup }, keepAliveMaxTimeout: KEPT_MS }) };
  };
  let opened: ReturnType<typeof load> | undefined;
  return {
    open() {
      opened ??= load();
      return opened;
    },
    close: async () => (await opened)?.agent.destroy(),
  };
}

interface Means {
  library: Awaited<ReturnType<ReturnType<typeof openLibrary>['open']>>;
  check(address: string): URL;
  signal: AbortSignal;
}

/** One request, with its redirects. */
class Exchange {
  /** The current address. */
  url: URL;
  readonly #means: Means;
  readonly #maxRedirects: number;
  #method: 'GET' | 'POST';
  #body: EgressRequest['body'];
  #headers: Headers;

  constructor(url: URL, { method = 'GET', body, headers, maxRedirects }: EgressRequest, means: Means) {
    this.url = url;
    this.#means = means;
    this.#maxRedirects = maxRedirects ?? MAX_REDIRECTS;
    this.#method = method;
    this.#body = body;
    this.#headers = headersOf(means.library.Headers, headers);
  }

  /** Sends the request, and sends it again to the target of each redirect. */
  async follow(): Promise<Response> {
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#send();
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
      if (location === null || redirects >= this.#maxRedirects) return response;
      await response.body?.cancel();
      this.#redirect(response.status, location);
    }
  }

  #send(): Promise<Response> {
    const { library, signal } = this.#means;
    this.#headers.set('user-agent', AGENT);
    return library.fetch(this.url, {
      method: this.#method,
      headers: this.#headers,
      body: this.#body ?? null,
      dispatcher: library.agent,
      redirect: 'manual',
      signal,
    });
  }

  #redirect(status: number, location: string): void {
    const { url } = this;
    const next = this.#means.check(URL.parse(location, url.href)?.href ?? location);
    if (url.protocol === 'https:' && next.protocol === 'http:') {
      throw refused('It redirects from https to http.');
    }
    if (status !== 307 && status !== 308 && this.#method === 'POST') {
      this.#method = 'GET';
      this.#body = undefined;
      this.#headers.delete('content-type');
    }
    if (next.origin !== url.origin) this.#dropPrivate();
    this.url = next;
  }

  /** The body and the headers are meant for the first server only. */
  #dropPrivate(): void {
    if (this.#body !== undefined)
      throw refused('It redirects to another server, which must not get the body.');
    const accept = this.#headers.get('accept');
    this.#headers = new this.#means.library.Headers(accept === null ? {} : { accept });
  }
}

/** The library refuses a line break in a value, because it would begin another header. */
function headersOf(Type: typeof Headers, given: Record<string, string> | undefined): Headers {
  try {
    return new Type(given);
  } catch (cause) {
    throw new AppError('bad_request', { detail: 'A header holds what no header can hold.', cause });
  }
}

/** Counts bytes after decompression, so that a small answer cannot become a large one in memory. */
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

/** Libraries wrap errors. A cause that this server made has the best message. */
function translate(error: unknown, timeout: AbortSignal): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AppError) return cause;
    // The fetch standard refuses ports of other protocols.
    if (cause.message === 'bad port') return refused('That port is not for http.', error);
  }
  if (timeout.aborted) return new AppError('upstream_timeout', { cause: error });
  return new AppError('upstream_failed', { cause: error });
}
