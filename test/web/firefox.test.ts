import { afterAll, describe, expect, test } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { PASSWORD, signUpAll, startServer } from '../support/server.ts';
import { launchFirefox, openDesk, withoutFirefox } from './browser.ts';

describe.skipIf(withoutFirefox)('Firefox (skipped without the Debian package firefox-esr)', async () => {
  if (withoutFirefox) return;
  const server = await startServer();
  const [root, ann] = await signUpAll(server, 'Root', 'Ann');
  const channel = await makeChannel(server, root, grant('*', 'read'), grant('*', 'write'));
  const post = async (content: string, parent_id?: string) =>
    (await server.as(root)(`POST /channels/${channel}/messages/post`, { content, parent_id })).body.id;
  const browser = await launchFirefox();
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  test('a person signs in, posts, sees an answer at once, and replies in its thread', async () => {
    const { page, faults } = await openDesk(browser, server);
    await page.goto('/');
    // Typed, since React does not hear of what Playwright fills in by BiDi.
    await page.getByLabel('E-mail').pressSequentially(ann.email);
    await page.getByRole('textbox', { name: 'Password' }).pressSequentially(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'general' }).click();
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await field.pressSequentially('Hello from **Firefox**');
    await field.press('Enter');
    await page.locator('strong', { hasText: 'Firefox' }).waitFor();
    await page.getByRole('article', { name: /^Ann/ }).waitFor();
    const root = await post('Welcome, Ann');
    const answer = page.getByRole('article').filter({ hasText: 'Welcome, Ann' });
    await answer.waitFor();

    await answer.focus();
    await page.keyboard.press('t');
    const thread = page.getByRole('complementary', { name: 'Thread' });
    const reply = thread.getByRole('textbox', { name: 'Reply' });
    await reply.pressSequentially('Thank you');
    await reply.press('Enter');
    await thread.getByRole('article', { name: /^Ann/ }).waitFor();
    await post('You are welcome', root);
    await thread.getByText('You are welcome').waitFor();
    await page.keyboard.press('Escape');
    await thread.waitFor({ state: 'detached' });
    await answer.getByRole('button', { name: /2 replies/ }).waitFor();
    expect(faults).toEqual([]);
  });
});
