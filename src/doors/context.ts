import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credentials, Parts, Reply } from '../core/scope.ts';
import type { Context } from '../core/trpc.ts';
import { requestIdOf } from './http.response.ts';
import { ignoredHeader } from './rest.ignored.ts';

export const SESSION_COOKIE = 'token';

/** For doors that cannot set a cookie: the caller gets its token in the result. */
const WITHOUT_COOKIES: Reply = { setSession: () => {} };

/**
 * What a procedure gets to know of a request, for every door. Nothing in it is verified.
 *
 * The address is the socket's: `X-Forwarded-For` is anybody's claim, so neither logs nor limits use it.
 */
export function buildContext(parts: Parts, raw: IncomingMessage, reply: Reply = WITHOUT_COOKIES): Context {
  return {
    parts,
    credentials: findCredentials(raw),
    request: {
      id: requestIdOf(raw),
      ip: raw.socket.remoteAddress ?? '',
      userAgent: raw.headers['user-agent'] ?? '',
      sameOrigin: isSameOrigin(raw),
    },
    reply,
  };
}

/** The context of one HTTP request, with a reply that sets and clears the session's cookie. */
export const buildHttpContext = (parts: Parts, request: FastifyRequest, reply: FastifyReply): Context =>
  buildContext(parts, request.raw, {
    setSession(token, expiresAt) {
      reply.header('set-cookie', sessionCookie(request.raw, token, expiresAt));
    },
    nameIgnored(names) {
      if (names.length > 0) reply.header('x-ignored-members', ignoredHeader(names));
    },
  });

/**
 * The context of a socket. A browser sends its cookie with an upgrade from any page, and no preflight asks first
 * (cross-site WebSocket hijacking), so a cookie counts only from our own origin.
 *
 * @param token what the client handed over after the connection was made; wins over the upgrade request's headers
 */
export function buildSocketContext(parts: Parts, raw: IncomingMessage, token?: string): Context {
  const context = buildContext(parts, raw);
  if (token) return { ...context, credentials: { token, via: 'connection' } };
  const hijackable = context.credentials?.via === 'cookie' && !context.request.sameOrigin;
  return hijackable ? { ...context, credentials: null } : context;
}

const BEARER = /^bearer +(\S+)$/i;

/** `Authorization` wins over `x-api-key`, that over the cookie. Another scheme, say a proxy's Basic, is not ours. */
function findCredentials({ headers }: IncomingMessage): Credentials | null {
  const bearer = headers.authorization && BEARER.exec(headers.authorization)?.[1];
  if (bearer) return { token: bearer, via: 'bearer' };
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return { token: key, via: 'bearer' };
  const token = headers.cookie && parseCookie(headers.cookie)[SESSION_COOKIE];
  return token ? { token, via: 'cookie' } : null;
}

/** Browsers alone set these headers, so a page of another site cannot forge them. */
function isSameOrigin(raw: IncomingMessage): boolean {
  const { origin, host, 'sec-fetch-site': site } = raw.headers;
  if (site === 'same-origin') return true;
  return origin !== undefined && origin === `${isHttps(raw) ? 'https' : 'http'}://${host}`;
}

/**
 * Believes `X-Forwarded-Proto` from anyone: a caller who lies gets a cookie that works for https only, and a page
 * of another site cannot send the header without a preflight.
 */
function isHttps(raw: IncomingMessage): boolean {
  const forwarded = raw.headers['x-forwarded-proto'];
  return 'encrypted' in raw.socket || (typeof forwarded === 'string' && /^https\b/i.test(forwarded));
}

function sessionCookie(raw: IncomingMessage, token: string | null, expiresAt: number | null): string {
  const expires = token === null ? new Date(0) : expiresAt === null ? undefined : new Date(expiresAt * 1000);
  return stringifySetCookie({
    name: SESSION_COOKIE,
    value: token ?? '',
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: isHttps(raw),
    ...(expires && { expires }),
  });
}
