import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD as DIRECTORY_PASSWORD, type Slapd, startSlapd, withoutSlapd } from '../ldap/slapd.ts';
import { startProvider, type TestProvider } from '../oauth/provider.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, withoutBrowser } from './browser.ts';

const PASSWORD = 'a long pass phrase';

/** The field of the sign-up. The view before it is shown while the sign-up loads, and has a field 'User name'. */
const nameOf = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true });

describe.skipIf(withoutBrowser)('the entrance (needs chromium)', async () => {
  const browser = withoutBrowser ? undefined : await launchBrowser();
  let provider: TestProvider;
  let slapd: Slapd | undefined;
  let server: TestServer;
  beforeAll(async () => {
    provider = await startProvider();
    slapd = withoutSlapd ? undefined : await startSlapd();
    server = await startServer({
      env: { ENABLE_OAUTH_SIGNUP: 'true', ...provider.env, ...slapd?.env, OAUTH_PROVIDER_NAME: 'Corp' },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await server.close();
    await provider.close();
    await slapd?.stop();
  });
  const desk = async () => {
    if (!browser) throw new Error('There is no browser.');
    return openDesk(browser, server);
  };

  test('the first person is told that the account becomes the administrator, and comes in', async () => {
    const { page, faults, context } = await desk();
    await page.goto('/');
    await page.getByText('becomes its administrator').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await nameOf(page).fill('Ada');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill('short');
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByText('There is no channel yet').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a second person waits for approval, and the page goes on by itself', async () => {
    const { page, faults, context } = await desk();
    await page.goto('/tools');
    // The view of the sign-up comes late: what is typed meanwhile must not go to the view before it.
    const late = Promise.withResolvers<void>();
    await page.route(/\/SignUp-/, async (route) => {
      await late.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Make an account' }).click();
    const typed = nameOf(page).fill('Grace');
    late.resolve();
    await typed;
    await page.getByLabel('E-mail').fill('grace@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByText('Your account waits for approval').waitFor();
    await page.getByRole('link', { name: 'Ada' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);

    const { body } = await server.call('POST /auths/signin', {
      body: { email: 'ada@example.com', password: PASSWORD },
    });
    const ada = server.as(body);
    const { users } = (await ada('GET /users/?query=grace')).body;
    await ada(`POST /users/${users[0].id}/update`, { role: 'user' });
    // The approval ends the session, as each change of a role does.
    await page.getByText('Your session has ended').waitFor();
    await page.getByText('Password', { exact: true }).first().click();
    await page.getByLabel('E-mail').fill('grace@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main navigation' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a wrong password is told in the words of the server, and keeps the address', async () => {
    const { page, context } = await desk();
    await page.goto('/account/keys?x=1');
    await page.getByText('Password', { exact: true }).first().click();
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/account/keys');
    await context.close();
  });

  test('a sign-in at a provider comes back to the view that the person asked for', async () => {
    provider.signsIn('ann', { name: 'Ann', email: 'ann@example.com', email_verified: true });
    const { page, context } = await desk();
    await page.goto('/sign-in?to=%2Faccount%2Flook');
    await page.getByRole('link', { name: 'Continue with Corp' }).click();
    await page.getByText('Your account waits for approval').waitFor();
    await context.close();
  });

  test('a failed sign-in at a provider is told, and addresses of other hosts are not followed', async () => {
    const { page, context } = await desk();
    await page.goto('/auth?error=The%20provider%20refused%20the%20sign-in.');
    await page.getByText('The provider refused the sign-in.').waitFor();
    await page.goto('/sign-in?to=%2F%2Fevil.example');
    await page.getByText('Password', { exact: true }).first().click();
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main navigation' }).waitFor();
    expect(new URL(page.url()).origin).toBe(server.url);
    await context.close();
  });

  test.skipIf(withoutSlapd)('people sign in by their name in the directory (needs slapd)', async () => {
    await slapd?.add('eve', { cn: 'Eve', mail: 'eve@example.com' });
    const { page, context } = await desk();
    await page.goto('/sign-in');
    await page.getByLabel('User name').fill('eve');
    await page.getByRole('textbox', { name: 'Password' }).fill(DIRECTORY_PASSWORD);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Your account waits for approval').waitFor();
    await context.close();
  });
});
