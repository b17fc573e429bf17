import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { createDatabase } from '../support/database.ts';
import { freePort } from '../support/process.ts';
import { PASSWORD, sessionOf, signUpAll, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, withoutBrowser } from './browser.ts';

/** Requests that post, also together with other calls. */
const POSTS = /messages\.post/;

describe.skipIf(withoutBrowser)('outages (needs chromium)', async () => {
  if (withoutBrowser) return;
  const database = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const options = { database, dataDir, env: { PORT: String(await freePort()), PYTHON: '/dev/null' } };
  let server = await startServer(options);
  const [root, ann, bob] = await signUpAll(server, 'Root', 'Ann', 'Bob');
  const channel = await makeChannel(server, root, grant('*', 'read'), grant('*', 'write'));
  const path = `/channels/${channel}`;
  const post = (content: string, person = bob) =>
    server.as(person)(`POST ${path}/messages/post`, { content });
  await post('The first message.');
  const browser = await launchBrowser();
  const { page, context, faults } = await openDesk(browser, server, ann);
  afterAll(async () => {
    await browser.close();
    await server.close();
    await database.drop();
    await rm(dataDir, { recursive: true });
  });

  const composer = page.getByRole('textbox', { name: 'Message', exact: true });
  const messageOn = (text: string, on: Page = page) => on.getByRole('article').filter({ hasText: text });
  const say = async (text: string) => {
    await composer.fill(text);
    await page.keyboard.press('Enter');
  };
  /** How often the server stored a message. */
  const storedTimes = async (text: string) =>
    (await server.as(bob)(`GET ${path}/messages?limit=200`)).body.filter(
      ({ content }: { content: string }) => content === text,
    ).length;

  test('a message that is written without a connection is sent once, also after a reload', async () => {
    await page.goto(path);
    await messageOn('The first message.').waitFor();
    await context.setOffline(true);
    await say('Written offline.');
    await say('And another one.');
    await page.getByText('You are offline').waitFor();
    await page.getByText('2 messages wait to be sent').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await context.setOffline(false);
    await expect.poll(() => storedTimes('And another one.')).toBe(1);
    await expect.poll(() => messageOn('Written offline.').count()).toBe(1);
    expect(await storedTimes('Written offline.')).toBe(1);

    await page.route(POSTS, (route) => route.abort());
    await say('Lost on the way.');
    await page.getByRole('article', { name: 'Your message, not sent yet' }).waitFor();
    await page.reload();
    await page.getByRole('article', { name: 'Your message, not sent yet' }).waitFor();
    await page.unroute(POSTS);
    await expect.poll(() => storedTimes('Lost on the way.'), { timeout: 30_000 }).toBe(1);
    await expect.poll(() => messageOn('Lost on the way.').count()).toBe(1);
  });

  test('a message whose answer is lost is stored once', async () => {
    let lost = 0;
    await page.route(POSTS, async (route) => {
      if (lost++ > 0) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await say('The answer is lost.');
    await expect.poll(() => storedTimes('The answer is lost.')).toBe(1);
    await expect
      .poll(() => page.getByRole('article', { name: /not sent/ }).count(), { timeout: 30_000 })
      .toBe(0);
    await page.unroute(POSTS);
    expect(await storedTimes('The answer is lost.')).toBe(1);
    expect(await messageOn('The answer is lost.').count()).toBe(1);
  });

  test('a refused message keeps its text until the person discards it', async () => {
    const { id } = (await post('Soon gone.')).body;
    await messageOn('Soon gone.').hover();
    await page.getByRole('button', { name: 'Quote', exact: true }).click();
    await server.as(bob)(`DELETE ${path}/messages/${id}/delete`);
    await say('About that.');
    await messageOn('About that.').getByRole('alert').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await messageOn('About that.').getByRole('button', { name: 'Try again' }).click();
    await messageOn('About that.').getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => messageOn('About that.').count()).toBe(0);
    expect(await storedTimes('About that.')).toBe(0);
  });

  test('a restarted server is found again, and what was missed is caught up', async () => {
    await server.close();
    await page.getByText('The connection is away').waitFor();
    await say('Written without a server.');
    server = await startServer(options);
    await post('Said after the restart.');
    await messageOn('Said after the restart.').waitFor({ timeout: 40_000 });
    await expect.poll(() => storedTimes('Written without a server.'), { timeout: 40_000 }).toBe(1);
    await expect.poll(() => messageOn('Written without a server.').count()).toBe(1);
    await page.getByText('The connection is away').waitFor({ state: 'detached' });
  });

  test('a waiting message is never sent in the name of another account', async () => {
    const desk = await openDesk(browser, server, ann);
    await desk.page.goto(path);
    const otherTab = await desk.context.newPage();
    await otherTab.goto('/sign-in');
    await desk.page.route(POSTS, (route) => route.abort());
    await desk.page.getByRole('textbox', { name: 'Message', exact: true }).fill('Only Ann says this.');
    await desk.page.keyboard.press('Enter');
    await desk.page.getByRole('article', { name: 'Your message, not sent yet' }).waitFor();
    await otherTab.getByLabel('E-mail').fill(bob.email);
    await otherTab.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await otherTab.getByRole('button', { name: 'Sign in' }).click();
    await otherTab.getByRole('button', { name: 'Bob' }).waitFor();
    await desk.page.unroute(POSTS);
    // The first tab begins anew, as the account that its calls go out for.
    await desk.page.getByRole('button', { name: 'Bob' }).waitFor();
    await desk.page.getByRole('article').last().waitFor();
    expect(await messageOn('Only Ann says this.', desk.page).count()).toBe(0);

    // The message waits for its author.
    await desk.context.addCookies([{ name: 'token', value: ann.token, url: server.url, httpOnly: true }]);
    await desk.page.reload();
    await messageOn('Only Ann says this.', desk.page).waitFor();
    await expect.poll(() => storedTimes('Only Ann says this.')).toBe(1);
    const { body } = await server.as(bob)(`GET ${path}/messages?limit=1`);
    expect(body[0].user.name).toBe('Ann');
    await desk.context.close();
  });

  test('an ended session leads to the sign-in, and back to the same place', async () => {
    await server.as(ann)(`DELETE /auths/sessions/${sessionOf(ann)}`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.getByLabel('E-mail').fill(ann.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await messageOn('Said after the restart.').waitFor();
    expect(page.url()).toContain(path);
  });

  test('a right that is taken away while looking is said', async () => {
    await server.as(root)(`POST ${path}/access/update`, { access_grants: [grant(bob.id, 'read')] });
    // Nothing is done on the page: the server tells it.
    await page.getByText('You can no longer read this channel').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('link', { name: 'Leave the channel' }).click();
    await page.getByText('There is no channel yet').waitFor();
  });

  test('nothing went wrong in the browser', () => {
    expect(faults).toEqual([]);
  });
});
