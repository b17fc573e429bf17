import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';
import { PNG } from '../webhooks/pictures.ts';

export const CLIENT_ID = 'parley';
export const OTHER_CLIENT_ID = 'another program';
export const CLIENT_SECRET = 'a secret of the client';

type Claims = Record<string, unknown>;

export interface TestProvider {
  issuer: string;
  port: number;
  /** The environment for `startServer`. */
  env: Record<string, string>;
  /** Sets the next user who signs in, by subject. */
  signsIn(subject: string, claims: Claims): void;
  /** The number of requests for one of its addresses. */
  asked(path: string): number;
  /** Replaces ID tokens: with other claims signed by the provider, or with a given token. */
  spoil: ((claims: JWTPayload) => JWTPayload | Promise<string>) | undefined;
  /** Registers the address for its back-channel logout. */
  tellLogoutsAt(url: string): void;
  /** Sends the logout notice that the provider would send. */
  logOut(subject: string, sid: string): Promise<void>;
  /** An access token of the provider, for this client by default. */
  issue(subject: string, clientId?: string): Promise<string>;
  /** The session id in the newest ID token. */
  sid(): string;
  /** A token signed with the key of the provider. */
  sign(claims: JWTPayload, kid?: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * An OpenID provider on this machine that asks for no password.
 *
 * @param elsewhere its issuer address, when `internet.ts` redirects that address here
 */
export async function startProvider(elsewhere?: string): Promise<TestProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const issuer = elsewhere ?? `http://127.0.0.1:${port}`;
  const { pathname } = new URL(issuer);
  const mount = pathname === '/' ? '' : pathname;

  const people = new Map<string, Claims>();
  const asked = new Map<string, number>();
  let next = '';
  let sid = '';
  let logoutUri = 'http://127.0.0.1/unset';
  const clientMetadata = {
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    // The port of the server is known later; `redirectUriAllowed` below accepts any.
    redirect_uris: ['http://127.0.0.1/oauth/oidc/callback'],
    backchannel_logout_uri: logoutUri,
    backchannel_logout_session_required: true,
    post_logout_redirect_uris: ['https://chat.example/auth'],
  };
  const otherClient = {
    client_id: OTHER_CLIENT_ID,
    client_secret: 'a secret of another client',
    redirect_uris: ['http://127.0.0.1/other'],
  };

  const provider = new Provider(issuer, {
    clients: [clientMetadata, otherClient],
    jwks: { keys: [key] },
    cookies: { keys: ['signs cookies'] },
    conformIdTokenClaims: false,
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'picture', 'contact'],
      roles: ['roles'],
      groups: ['groups'],
    },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      userinfo: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
    },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    interactions: { url: (_ctx, interaction) => `${mount}/interaction/${interaction.uid}` },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...people.get(accountId) }),
    }),
    async loadExistingGrant(ctx) {
      const { client, session } = ctx.oidc;
      if (!client || !session?.accountId) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email profile roles groups');
      await grant.save();
      return grant;
    },
    // Its own egress refuses addresses of this machine.
    fetch: (url, options) =>
      fetch(url, { ...(options as RequestInit), dispatcher: undefined } as RequestInit),
  });
  provider.Client.prototype.redirectUriAllowed = (uri: string) =>
    /^http:\/\/(127\.0\.0\.1|localhost):\d+\/oauth\/(oidc|google|microsoft)\/callback$/.test(uri);
  provider.proxy = elsewhere !== undefined;

  const sign = (claims: JWTPayload, kid = 'one') =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' }).sign(privateKey);

  const self: TestProvider = {
    issuer,
    port,
    env: {
      OPENID_PROVIDER_URL: issuer,
      OAUTH_CLIENT_ID: CLIENT_ID,
      OAUTH_CLIENT_SECRET: CLIENT_SECRET,
      OAUTH_SCOPES: 'openid email profile roles groups',
    },
    signsIn(subject, claims) {
      people.set(subject, claims);
      next = subject;
    },
    asked: (path) => asked.get(path) ?? 0,
    spoil: undefined,
    tellLogoutsAt(url) {
      logoutUri = url;
    },
    async logOut(subject, session) {
      // Missing in its types: the notice that it sends when one of its sessions ends.
      const client = (await provider.Client.find(CLIENT_ID)) as unknown as {
        backchannelLogoutUri: string;
        backchannelLogout(subject: string, sid: string): Promise<void>;
      };
      client.backchannelLogoutUri = logoutUri;
      await client.backchannelLogout(subject, session);
    },
    async issue(subject, clientId = CLIENT_ID) {
      const client = await provider.Client.find(clientId);
      if (!client) throw new Error(`There is no client ${clientId}.`);
      const grant = new provider.Grant({ clientId, accountId: subject });
      const scope = 'openid email profile roles groups';
      grant.addOIDCScope(scope);
      const grantId = await grant.save();
      return new provider.AccessToken({ client, accountId: subject, grantId, scope, gty: 'password' }).save();
    },
    sid: () => sid,
    sign,
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };

  provider.use(async (ctx, proceed) => {
    if (ctx.path === '/photo') {
      // In the form of Microsoft: pictures require the token of the user.
      const token = /^Bearer (.+)$/.exec(ctx.get('authorization'))?.[1];
      if (!token || !(await provider.AccessToken.find(token))) ctx.status = 401;
      else if (typeof ctx.query.to === 'string') ctx.redirect(ctx.query.to);
      else ctx.body = Buffer.from(PNG.split(',')[1] ?? '', 'base64');
      return;
    }
    asked.set(ctx.path, (asked.get(ctx.path) ?? 0) + 1);
    await proceed();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path !== '/token' || !body?.id_token) return;
    const claims = decodeJwt(body.id_token);
    sid = String(claims.sid);
    if (!self.spoil) return;
    const spoilt = await self.spoil(claims);
    ctx.body = { ...body, id_token: typeof spoilt === 'string' ? spoilt : await sign(spoilt) };
  });
  const answer = provider.callback();
  http.on('request', (request, response) => {
    if (mount !== '' && request.url?.startsWith(mount)) {
      // In the form that the library documents for a mount below a path.
      Object.assign(request, { originalUrl: request.url, url: request.url.slice(mount.length) });
    }
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: next } });
  });
  return self;
}
