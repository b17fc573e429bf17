import { afterAll, describe, expect, test } from 'vitest';
import { egressToHere, startTarget } from '../egress/targets.ts';
import { until } from '../support/poll.ts';
import { PASSWORD, signUp, signUpAs, startServer } from '../support/server.ts';
import { PNG } from '../webhooks/pictures.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, visit, withoutBrowser } from './browser.ts';

describe.skipIf(withoutBrowser)('the own account (needs chromium)', async () => {
  if (withoutBrowser) return;
  const egress = egressToHere();
  const target = await startTarget((_request, response) => response.writeHead(answer).end());
  let answer = 404;
  const server = await startServer({
    egress,
    env: { ENABLE_USER_WEBHOOKS: 'true', ENABLE_API_KEYS: 'true', WEB_PUSH_CONTACT: 'mailto:it@example.com' },
  });
  const ada = await signUp(server, 'Ada');
  const browser = await launchBrowser({ notifies: true });
  const { page, faults, context } = await openDesk(browser, server, ada);
  afterAll(async () => {
    await browser.close();
    await server.close();
    await egress.close();
    await target.close();
  });
  const me = async () => (await server.as(ada)('GET /auths')).body;

  test('the name, the picture and the status change', async () => {
    await page.goto('/account');
    await page.getByLabel('Name').fill('Ada Lovelace');
    await page.locator('input[type=file]').setInputFiles({
      name: 'me.png',
      mimeType: 'image/png',
      buffer: Buffer.from(PNG.split(',')[1] ?? '', 'base64'),
    });
    await page.getByText('The picture changes when you save.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your profile was saved.').waitFor();
    expect(await me()).toMatchObject({ name: 'Ada Lovelace' });
    const picture = await fetch(`${server.url}/api/v1/users/${ada.id}/profile/image`, {
      headers: { authorization: `Bearer ${ada.token}` },
    });
    expect(picture.headers.get('content-type')).toBe('image/jpeg');

    await page.getByLabel('What others see').fill('In a meeting');
    await page.getByRole('button', { name: 'Set the status' }).click();
    await page.getByText('Your status was set.').waitFor();
    expect((await server.as(ada)('GET /users/user/status')).body.status_message).toBe('In a meeting');
  });

  test('a key is shown once, works, and is revoked after a question', async () => {
    await visit(page, '/account/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Backup');
    await page.getByRole('button', { name: 'Make the key' }).click();
    const key = (await page.getByTestId('key').textContent()) ?? '';
    expect((await server.as({ token: key })('GET /auths')).status).toBe(200);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click();
    await page.getByRole('cell', { name: 'Backup' }).waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('You have no API keys').waitFor();
    expect((await server.as({ token: key })('GET /auths')).status).toBe(401);
  });

  test('other sessions are listed and ended', async () => {
    const { body: other } = await server.call('POST /auths/signin', {
      body: { email: ada.email, password: PASSWORD },
    });
    await visit(page, '/account/security');
    await page.getByText('This browser').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'End', exact: true }).first().click();
    await until('the end of the session', async () => (await server.as(other)('GET /auths')).status === 401);
  });

  test('language, colours and density change at once and stay', async () => {
    await visit(page, '/account/look');
    await page.getByText('Dark', { exact: true }).click();
    await page.getByText('Comfortable', { exact: true }).click();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Language' }).click();
    await page.getByRole('option', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { name: 'Sprache und Aussehen' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sprache und Aussehen' }).waitFor();
    const root = page.locator('html');
    expect(await root.getAttribute('lang')).toBe('de');
    expect(await root.getAttribute('data-mantine-color-scheme')).toBe('dark');
    expect(await root.getAttribute('data-density')).toBe('comfortable');
    await page.evaluate(() => localStorage.clear());
  });

  test('the address for notifications is checked by the server and kept', async () => {
    await page.goto('/account/notifications');
    await page.getByLabel('Address').fill('http://127.0.0.1:1/hook');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').first().waitFor();
    expect(await page.getByLabel('Address').inputValue()).toBe('http://127.0.0.1:1/hook');
  });

  test('the deliveries to the address are shown, and one that failed is sent again', async () => {
    const [bob, cleo] = [
      await signUpAs(server, ada, 'Bob', 'user'),
      await signUpAs(server, ada, 'Cleo', 'user'),
    ];
    const open = async () => {
      const desk = await openDesk(browser, server, cleo);
      await desk.page.goto('/account/notifications');
      return desk;
    };
    const before = await open();
    await before.page.getByText('Nothing was sent yet.').waitFor();
    await before.page.getByLabel('Address').fill(target.url);
    await before.page.getByRole('button', { name: 'Save' }).click();
    await before.page.getByText('The address was saved.').waitFor();
    const { body: direct } = await server.as(bob)('POST /channels/create', {
      type: 'dm',
      user_ids: [cleo.id],
    });
    await before.context.close();
    // The server sends to people who are away, which it notices some time after the end of the connection.
    await until('the delivery', async () => {
      await server.as(bob)(`POST /channels/${direct.id}/messages/post`, { content: 'Are you there?' });
      return target.heard.length > 0;
    });

    const after = await open();
    const list = after.page.getByRole('table', { name: 'Deliveries' });
    const state = async (name: string) => {
      await after.page.getByRole('button', { name: 'Refresh' }).click();
      return list.getByRole('cell', { name, exact: true }).count();
    };
    await expect.poll(() => state('Failed')).toBeGreaterThan(0);
    expect(await violationsOn(after.page)).toEqual([]);
    answer = 200;
    await list.getByRole('button', { name: 'Send again' }).first().click();
    await expect.poll(() => state('Delivered')).toBe(1);
    expect(target.heard.every(({ body }) => body.includes('Are you there?'))).toBe(true);
    expect([...before.faults, ...after.faults]).toEqual([]);
    await after.context.close();
  });

  test('the use of models is shown', async () => {
    await page.goto('/account/usage');
    await page.getByText('You have not used a model yet').waitFor();
    expect(await violationsOn(page)).toEqual([]);
  });

  test('where web push is configured, the browser can be notified while the page is closed', async () => {
    await page.goto('/account/notifications');
    await page.getByRole('heading', { name: 'While the page is closed' }).waitFor();
    await page.getByRole('button', { name: 'Notify this browser' }).waitFor();
    // Chromium without a push service of its maker refuses; the words of the browser are shown.
    await page.getByRole('button', { name: 'Notify this browser' }).click();
    await page.getByRole('alert').first().waitFor();
    const worker = await fetch(`${server.url}/sw.js`);
    expect(worker.headers.get('content-type')).toMatch(/javascript/);
    expect(worker.headers.get('cache-control')).toMatch(/max-age=0/);
  });

  test('a click on a notification leads a window to the message, also one that was open before the worker', async () => {
    await context.grantPermissions(['notifications']);
    await visit(page, '/account/look');
    await page.getByRole('heading', { name: 'Language and look' }).waitFor();
    const begun = context.waitForEvent('serviceworker');
    await page.evaluate('navigator.serviceWorker.getRegistration().then((worker) => worker?.unregister())');
    await page.reload();
    await page.evaluate("navigator.serviceWorker.register('/sw.js')");
    const worker = await begun;
    // Only a person can click on a real notification.
    await worker.evaluate(`(async () => {
      await self.registration.showNotification('Bob', { data: '/account/keys' });
      const [notification] = await self.registration.getNotifications();
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification }));
    })()`);
    await page.waitForURL('**/account/keys');
    await context.clearPermissions();
  });

  test('signing out here ends the session of this browser', async () => {
    await visit(page, '/account/profile');
    await page
      .getByRole('navigation', { name: 'Main navigation' })
      .getByRole('button', { name: /Ada/ })
      .click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await server.as(ada)('GET /auths')).status).toBe(401);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('signing out everywhere ends the sessions of all browsers', async () => {
    const { body: own } = await server.call('POST /auths/signin', {
      body: { email: ada.email, password: PASSWORD },
    });
    const { body: other } = await server.call('POST /auths/signin', {
      body: { email: ada.email, password: PASSWORD },
    });
    const here = await openDesk(browser, server, own);
    await here.page.goto('/account/security');
    await here.page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await here.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await server.as(own)('GET /auths')).status).toBe(401);
    expect((await server.as(other)('GET /auths')).status).toBe(401);
    await here.context.close();
  });
});
