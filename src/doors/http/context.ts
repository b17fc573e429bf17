import type { IncomingMessage } from 'node:http';
import { parseCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEVICE_SECONDS } from '../../auth/limits/devices.ts';
import type { Arrival, Credentials, Parts, Reply } from '../../core/scope.ts';
import type { Context } from '../../core/trpc/admission.ts';
import { LIMITS } from '../../core/wire.ts';
import { requestIdOf } from './http.response.ts';
import { ignoredHeader } from './ignored.ts';
import { mayBeTool } from './peer.ts';

export const SESSION_COOKIE = 'token';
const DEVICE_COOKIE = 'device';

/** For doors that cannot set a cookie: the caller gets its token in the result. */
const WITHOUT_COOKIES: Reply = { setSession: () => {} };

/**
 * The facts of a request for a procedure, the same at every door. Only the address is verified: `entrance.ts` decides which proxies
 * may state it.
 */
function buildContext(
  parts: Parts,
  raw: IncomingMessage,
  arrival: () => Pick<Arrival, 'method' | 'route'>,
  reply: Reply = WITHOUT_COOKIES,
): Context {
  return {
    parts,
    credentials: findCredentials(raw),
    bytes: bytesOf(raw),
    request: {
      id: requestIdOf(raw),
      ip: parts.entrance.addressOf(raw),
      userAgent: raw.headers['user-agent'] ?? '',
      isFromTool: async () => parts.python.state().state !== 'unavailable' && mayBeTool(raw.socket),
      get device() {
        return cookieOf(raw, DEVICE_COOKIE);
      },
      arrival: () => ({
        ...arrival(),
        traceparent: textOf(raw.headers.traceparent),
        isFromProxy: parts.entrance.isFromProxy(raw),
      }),
      sameOrigin: isSameOrigin(parts, raw),
      // Now, because a socket outlives the headers of its upgrade.
      origin: originOf(parts, raw),
    },
    reply,
  };
}

/** The size of the body; for chunked bodies the largest size allowed. */
const bytesOf = ({ headers }: IncomingMessage): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : LIMITS.bodyBytes;

/** The context of one HTTP request, with a reply that sets and clears the session's cookie. */
export const buildHttpContext = (parts: Parts, request: FastifyRequest, reply: FastifyReply): Context =>
  buildContext(parts, request.raw, () => ({ method: request.method, route: request.routeOptions.url }), {
    setSession(token, expiresAt) {
      const expires =
        token === null ? new Date(0) : expiresAt === null ? undefined : new Date(expiresAt * 1000);
      reply.header('set-cookie', parts.entrance.cookie(request.raw, SESSION_COOKIE, token ?? '', expires));
    },
    setDevice(token) {
      const expires = new Date(Date.now() + DEVICE_SECONDS * 1000);
      reply.header('set-cookie', parts.entrance.cookie(request.raw, DEVICE_COOKIE, token, expires));
    },
    nameIgnored(names) {
      if (names.length > 0) reply.header('x-ignored-members', ignoredHeader(names));
    },
    nameChanged(paths) {
      // The first names, and the number of all.
      const named = paths.length > 0 ? `${ignoredHeader(paths)}; ` : '';
      reply.header('x-changed-settings', `${named}total=${paths.length}`);
    },
  });

/**
 * The context of a socket. A browser sends its cookie with an upgrade from any page, and no preflight asks first
 * (cross-site WebSocket hijacking), so a cookie counts only from our own origin.
 *
 * @param token sent by the client after the connection was made; wins over the headers of the upgrade
 */
export function buildSocketContext(parts: Parts, raw: IncomingMessage, token?: string): Context {
  const route = raw.url?.split('?', 1)[0];
  const context = buildContext(parts, raw, () => ({ route }));
  if (token) return { ...context, credentials: { token, via: 'connection' } };
  const hijackable = context.credentials?.via === 'cookie' && !context.request.sameOrigin;
  return hijackable ? { ...context, credentials: null } : context;
}

const textOf = (header: string | string[] | undefined) => (typeof header === 'string' ? header : undefined);

const BEARER = /^bearer +(\S+)$/i;

/** `Authorization` wins over `x-api-key`, and that over the cookie. Other schemes, such as a proxy's Basic, are ignored. */
function findCredentials(raw: IncomingMessage): Credentials | null {
  const { headers } = raw;
  const bearer = headers.authorization && BEARER.exec(headers.authorization)?.[1];
  if (bearer) return { token: bearer, via: 'bearer' };
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return { token: key, via: 'bearer' };
  const token = cookieOf(raw, SESSION_COOKIE);
  return token ? { token, via: 'cookie' } : null;
}

const cookieOf = ({ headers }: IncomingMessage, name: string): string | undefined =>
  headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[name];

/** Browsers set these headers themselves, so a page of another site cannot forge them. */
function isSameOrigin(parts: Parts, raw: IncomingMessage): boolean {
  const { origin, host, 'sec-fetch-site': site } = raw.headers;
  if (site === 'same-origin') return true;
  return origin !== undefined && host !== undefined && origin === originOf(parts, raw);
}

/** The origin under which a browser reached this service. A client can claim any other, so it proves nothing. */
export const originOf = ({ entrance }: Parts, raw: IncomingMessage): string =>
  `${entrance.isHttps(raw) ? 'https' : 'http'}://${raw.headers.host}`;
