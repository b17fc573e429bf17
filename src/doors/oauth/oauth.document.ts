import type { GenerateOpenApiDocumentOptions } from 'trpc-to-openapi';
import { z } from 'zod';
import { failures } from '../files/files.document.ts';

/** Browsers and providers call these routes, so they are not under the prefix of REST. */
const servers = [{ url: '/' }];
const provider = {
  in: 'path' as const,
  name: 'provider',
  required: true,
  schema: { type: 'string' as const },
  description: 'As `oauth.providers` of `GET /config` names it',
};

/** The plain routes of `oauth.ts`, for the document. */
export const OAUTH_PATHS: NonNullable<GenerateOpenApiDocumentOptions['paths']> = {
  '/oauth/{provider}/login': {
    servers,
    get: {
      operationId: 'oauth.login',
      summary: 'Send the browser to a provider, to sign in there',
      description:
        'Begins a sign-in: sets a cookie for the attempt and sends the browser to the provider, which sends it back to the callback. For browsers; programs exchange a token of the provider instead.',
      tags: ['auths'],
      'x-access': 'open',
      parameters: [provider],
      responses: {
        302: {
          description: 'To the provider; to the page of the sign-in when that fails and a page is asked for',
        },
        ...failures({ 404: 'NotFound', 500: 'Internal', 502: 'BadGateway', 504: 'Timeout' }),
      },
    },
  },
  '/oauth/{provider}/callback': {
    servers,
    get: {
      operationId: 'oauth.callback',
      summary: 'Where a provider sends the browser back; sets the cookie of the session',
      description:
        'Ends a sign-in: checks the answer of the provider against the cookie of the attempt, finds or creates the account as the configuration allows, and starts a session.',
      tags: ['auths'],
      'x-access': 'open',
      parameters: [provider],
      responses: {
        302: {
          description: 'To the page of the sign-in, with `error` when it failed and a page is asked for',
        },
        ...failures({
          400: 'BadRequest',
          403: 'Forbidden',
          404: 'NotFound',
          500: 'Internal',
          502: 'BadGateway',
          504: 'Timeout',
        }),
      },
    },
  },
  '/oauth/backchannel-logout': {
    servers,
    post: {
      operationId: 'oauth.backChannelLogout',
      summary: 'A provider says that a session is over (OpenID Connect Back-Channel Logout 1.0)',
      description:
        'Providers call this, not people. The signed token names a session or a person of the provider; the sessions that began there end here at once, with their connections.',
      tags: ['auths'],
      'x-access': 'open',
      requestBody: {
        required: true,
        content: { 'application/x-www-form-urlencoded': { schema: z.object({ logout_token: z.string() }) } },
      },
      responses: {
        200: { description: 'Its sessions here have ended' },
        ...failures({
          400: 'BadRequest',
          413: 'TooLarge',
          415: 'UnsupportedMediaType',
          500: 'Internal',
          502: 'BadGateway',
          504: 'Timeout',
        }),
      },
    },
  },
};
