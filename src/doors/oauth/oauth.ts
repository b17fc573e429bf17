import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ATTEMPT_SECONDS } from '../../auth/oauth/oauth.attempt.ts';
import { endByProvider } from '../../auth/oauth/oauth.logout.service.ts';
import { afterSignIn, beginSignIn, endSignIn } from '../../auth/oauth/oauth.service.ts';
import { AppError } from '../../core/errors.ts';
import type { Parts, Scope } from '../../core/scope.ts';
import { answerCall } from '../../core/trpc/admission.ts';
import { LIMITS } from '../../core/wire.ts';
import { buildHttpContext, originOf } from '../http/context.ts';

const COOKIE = 'oauth_attempt';
const PATH = '/oauth';

const Provider = z.object({ provider: z.string() });
const LogoutForm = z.object({ logout_token: z.string().min(1) });

/**
 * Redirects of browsers to providers and back, and the back channel by which a provider ends sessions. They are no procedures:
 * a browser follows them, and a provider sends a form.
 */
export async function mountOAuth(app: FastifyInstance, parts: Parts): Promise<void> {
  await app.register(async (routes) => {
    routes.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });
    const form = { parseAs: 'string', bodyLimit: LIMITS.openBodyBytes } as const;
    routes.addContentTypeParser(
      'application/x-www-form-urlencoded',
      form,
      async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
    );

    routes.get(`${PATH}/:provider/login`, (request, reply) =>
      redirecting(parts, request, reply, async (scope) => {
        const origin = originOf(parts, request.raw);
        const { url, attempt } = await beginSignIn(scope, { provider: providerOf(request), origin });
        reply.header('set-cookie', attemptCookie(attempt, origin));
        return url;
      }),
    );
    for (const end of ['callback', 'login/callback']) {
      routes.get(`${PATH}/:provider/${end}`, (request, reply) =>
        redirecting(parts, request, reply, async (scope) => {
          const attempt = parseCookie(request.headers.cookie ?? '')[COOKIE] ?? '';
          // Valid once, whether the sign-in succeeds or fails.
          reply.header('set-cookie', attemptCookie('', originOf(parts, request.raw)));
          const query = request.url.slice(request.url.indexOf('?') + 1 || request.url.length);
          await endSignIn(scope, { provider: providerOf(request), attempt, query });
          return afterSignIn(scope);
        }),
      );
    }
    routes.post(`${PATH}/backchannel-logout`, async (request, reply) => {
      const parsed = LogoutForm.safeParse(request.body);
      if (!parsed.success) throw new AppError('bad_request', { detail: 'Send a form with a logout_token.' });
      const { logout_token } = parsed.data;
      await answer(parts, request, reply, (scope) => endByProvider(scope, logout_token));
      return reply.send();
    });
  });
}

const providerOf = (request: FastifyRequest): string => Provider.parse(request.params).provider;

function answer<T>(
  parts: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (scope: Scope<null>) => Promise<T>,
): Promise<T> {
  // As at sign-in and sign-out by password: they take little room.
  const call = {
    level: 'open',
    type: 'mutation',
    signal: undefined,
    reach: () => [],
    whenFull: true,
  } as const;
  return answerCall<null, T>(buildHttpContext(parts, request, reply), call, work);
}

/** Redirects a browser. A failure goes to the page of the sign-in; a caller that does not ask for a page gets JSON. */
async function redirecting(
  parts: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  find: (scope: Scope<null>) => Promise<string>,
) {
  const url = await answer(parts, request, reply, async (scope) => {
    try {
      return await find(scope);
    } catch (error) {
      const isForPage = request.headers.accept?.includes('text/html') ?? false;
      if (!(error instanceof AppError) || !isForPage || error.code === 'not_found') throw error;
      scope.log.info({ err: error, requestId: request.id }, 'A sign-in through a provider failed.');
      return afterSignIn(scope, error);
    }
  });
  return reply.redirect(url, 302);
}

/** The browser sends it when the provider redirects back (`Lax`), and only to these routes. */
const attemptCookie = (value: string, origin: string): string =>
  stringifySetCookie({
    name: COOKIE,
    value,
    httpOnly: true,
    sameSite: 'lax',
    path: PATH,
    secure: origin.startsWith('https:'),
    maxAge: value === '' ? 0 : ATTEMPT_SECONDS,
  });
