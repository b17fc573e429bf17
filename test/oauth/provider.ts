import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

export const CLIENT_ID = 'parley';
export const CLIENT_SECRET = 'a secret of the client';

type Claims = Record<string, unknown>;

export interface TestProvider {
  issuer: string;
  /** What `startServer` needs in its environment. */
  env: Record<string, string>;
  /** Whoever signs in next, by their subject. */
  signsIn(subject: string, claims: Claims): void;
  /** How often an address of it was asked for. */
  asked(path: string): number;
  /** Writes ID tokens anew, with the provider's own key. */
  spoil: ((claims: JWTPayload) => JWTPayload) | undefined;
  /** Registers where it tells that a session is over. */
  tellLogoutsAt(url: string): void;
  /** Sends the notice of a logout as it does itself. */
  logOut(subject: string, sid: string): Promise<void>;
  /** The session's name in the newest ID token. */
  sid(): string;
  /** A token signed with the provider's key. */
  sign(claims: JWTPayload, kid?: string): Promise<string>;
  close(): Promise<void>;
}

/** An OpenID provider on this machine that asks nobody for a password. */
export async function startProvider(): Promise<TestProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

  const people = new Map<string, Claims>();
  const asked = new Map<string, number>();
  let next = '';
  let sid = '';
  let logoutUri = 'http://127.0.0.1/unset';
  const clientMetadata = {
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    // Which port the server gets is known later; `redirectUriAllowed` below takes any.
    redirect_uris: ['http://127.0.0.1/oauth/oidc/callback'],
    backchannel_logout_uri: logoutUri,
    backchannel_logout_session_required: true,
  };

  const provider = new Provider(issuer, {
    clients: [clientMetadata],
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
    },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
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
    // Its own way out refuses addresses of this machine.
    fetch: (url, options) =>
      fetch(url, { ...(options as RequestInit), dispatcher: undefined } as RequestInit),
  });
  provider.Client.prototype.redirectUriAllowed = (uri: string) =>
    /^http:\/\/(127\.0\.0\.1|localhost):\d+\/oauth\/oidc\/callback$/.test(uri);

  const sign = (claims: JWTPayload, kid = 'one') =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' }).sign(privateKey);

  const self: TestProvider = {
    issuer,
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
      // What its types leave out: the notice that it sends when a session of its own ends.
      const client = (await provider.Client.find(CLIENT_ID)) as unknown as {
        backchannelLogoutUri: string;
        backchannelLogout(subject: string, sid: string): Promise<void>;
      };
      client.backchannelLogoutUri = logoutUri;
      await client.backchannelLogout(subject, session);
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
    asked.set(ctx.path, (asked.get(ctx.path) ?? 0) + 1);
    await proceed();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path !== '/token' || !body?.id_token) return;
    const claims = decodeJwt(body.id_token);
    sid = String(claims.sid);
    if (self.spoil) ctx.body = { ...body, id_token: await sign(self.spoil(claims)) };
  });
  const answer = provider.callback();
  http.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: next } });
  });
  return self;
}
