import { afterAll, describe, expect, test } from 'vitest';
import { grant } from '../support/channels.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, withoutBrowser } from './browser.ts';

describe.skipIf(withoutBrowser)(
  'search and threads (skipped without the Debian package chromium)',
  async () => {
    if (withoutBrowser) return;
    const server = await startServer();
    const [root, ann] = await signUpAll(server, 'Root', 'Ann');
    const access_grants = [grant('*', 'read'), grant('*', 'write')];
    const make = async (name: string) =>
      (await server.as(root)('POST /channels/create', { name, access_grants })).body.id as string;
    const [gears, looms] = [await make('gears'), await make('looms')];
    const post = async (channel: string, content: string, parent_id?: string) =>
      (await server.as(root)(`POST /channels/${channel}/messages/post`, { content, parent_id })).body
        .id as string;
    const wheel = await post(gears, 'The wheel turns <b>fast</b>');
    await post(looms, 'A wheel of the loom');
    await post(gears, 'An answer about the wheel in a thread', wheel);
    for (let count = 0; count < 60; count += 1) await post(gears, `Later talk ${count}`);
    const browser = await launchBrowser();
    afterAll(async () => {
      await browser.close();
      await server.close();
    });

    test('finds words in all channels, narrows them, and jumps to the message', async () => {
      const { page, context, faults } = await openDesk(browser, server, ann);
      await page.goto('/search');
      await page.getByText('Find a message').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('searchbox', { name: 'Search messages' }).fill('wheel');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('mark').count(), { timeout: 5000 }).toBe(3);
      expect(await page.locator('mark').allInnerTexts()).toEqual(['wheel', 'wheel', 'wheel']);
      expect(await violationsOn(page)).toEqual([]);

      await page.getByRole('combobox', { name: 'Channel' }).click();
      await page.getByRole('option', { name: 'gears' }).click();
      await expect.poll(() => page.locator('mark').count(), { timeout: 5000 }).toBe(2);
      await page.getByLabel('From').fill('ann');
      await page.getByRole('option', { name: /Ann/ }).click();
      await page.getByText('No message found').waitFor();
      await page.getByRole('button', { name: 'Remove the filters' }).click();
      await expect.poll(() => page.locator('mark').count(), { timeout: 5000 }).toBe(3);
      await page.getByLabel('Until').fill('2020-01-01');
      await page.getByText('No message found').waitFor();
      await page.getByRole('button', { name: 'Remove the filters' }).click();
      await page.getByRole('link', { name: /The wheel turns/ }).click();
      await page.getByRole('heading', { level: 1, name: 'gears' }).waitFor();
      await page.getByRole('main').getByText('The wheel turns').first().waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });

    test('shows the error of a search without a word', async () => {
      const { page, context, faults } = await openDesk(browser, server, ann);
      await page.goto('/search?q=-wheel');
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('searchbox', { name: 'Search messages' }).inputValue()).toBe('-wheel');
      expect(faults).toEqual([]);
      await context.close();
    });

    test('lists own threads with what is new in them, and opens one', async () => {
      const { body: mine } = await server.as(ann)(`POST /channels/${looms}/messages/post`, {
        content: 'How wide is it?',
      });
      const { page, context, faults } = await openDesk(browser, server, ann);
      await page.goto('/threads');
      await page.getByText('No threads yet').waitFor();
      await post(looms, 'Two metres', mine.id);
      await page.getByRole('link', { name: 'Threads 1 unread thread' }).waitFor();
      await page.getByText('1 new').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('link', { name: /How wide is it/ }).click();
      await page.getByRole('main').getByText('Two metres').waitFor();
      expect(faults).toEqual([]);
      await context.close();
    });
  },
);
