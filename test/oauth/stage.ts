import { afterAll, beforeAll } from 'vitest';
import type { Egress } from '../../src/egress/egress.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Browser, openBrowser, type Visit } from './browser.ts';
import { startProvider, type TestProvider } from './provider.ts';

export interface Stage {
  provider: TestProvider;
  server: TestServer;
  /** Signs a user in with a new browser, or the given one. */
  enter(subject: string, claims: Record<string, unknown>, browser?: Browser): Promise<Entry>;
}

export interface Entry {
  visit: Visit;
  browser: Browser;
  token: string | undefined;
  /** The error that the sign-in page gets. */
  error: string | null;
}

/** A provider and a server that trusts it, for the tests of one file. */
export function setStage(env: Record<string, string> = {}, egress?: Egress): Stage {
  const stage = {} as Stage;
  beforeAll(async () => {
    stage.provider = await startProvider();
    stage.server = await startServer({
      env: { ENABLE_OAUTH_SIGNUP: 'true', ...stage.provider.env, ...env },
      ...(egress && { egress }),
    });
    stage.provider.tellLogoutsAt(`${stage.server.url}/oauth/backchannel-logout`);
  });
  afterAll(async () => {
    await stage.server.close();
    await stage.provider.close();
  });
  stage.enter = async (subject, claims, browser = openBrowser()) => {
    stage.provider.signsIn(subject, claims);
    const visit = await browser.visit(loginOf(stage), pageOf(stage));
    return entryOf(stage, browser, visit);
  };
  return stage;
}

/** The page where a sign-in ends. The provider has one with the same path. */
export const pageOf = ({ server }: Pick<Stage, 'server'>): RegExp => new RegExp(`^${server.url}/auth(\\?|$)`);

export const loginOf = ({ server }: Pick<Stage, 'server'>): string => `${server.url}/oauth/oidc/login`;

export function entryOf({ server }: Pick<Stage, 'server'>, browser: Browser, visit: Visit): Entry {
  const error = new URL(visit.url).searchParams.get('error');
  return { visit, browser, token: browser.cookie(server.url, 'token'), error };
}

/** Claims of a user with a verified address. */
export const claimsOf = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  email: `${name.toLowerCase()}@example.com`,
  email_verified: true,
  ...more,
});
