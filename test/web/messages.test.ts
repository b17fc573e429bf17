import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, withoutBrowser } from './browser.ts';

const OLD = 150;

describe.skipIf(withoutBrowser)('messages (needs chromium)', async () => {
  if (withoutBrowser) return;
  const server = await startServer();
  const [root, ann, bob] = await signUpAll(server, 'Root', 'Ann', 'Bob');
  const channel = await makeChannel(server, root, grant('*', 'read'), grant('*', 'write'));
  const post = async (content: string, more: object = {}, person = bob) =>
    (await server.as(person)(`POST /channels/${channel}/messages/post`, { content, ...more })).body;
  for (let n = 1; n <= OLD; n++) await post(`Old message ${n}.`);
  await server.as(ann)(`POST /channels/${channel}/read`, {});
  const browser = await launchBrowser();
  const [annDesk, bobDesk] = [await openDesk(browser, server, ann), await openDesk(browser, server, bob)];
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
  const messageOn = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text });
  /** Once the server has it: the label of a waiting message is another one. */
  const stored = (page: Page, text: string) =>
    page.getByRole('article', { name: /^(?!Your message)/ }).and(messageOn(page, text));
  const topOf = async (page: Page, text: string) => (await messageOn(page, text).boundingBox())?.y ?? 0;
  async function say(page: Page, text: string) {
    await composer(page).fill(text);
    await page.keyboard.press('Enter');
  }
  async function act(page: Page, text: string, action: string) {
    await messageOn(page, text).first().hover();
    await page.getByRole('toolbar').getByRole('button', { name: action, exact: true }).click();
  }
  async function actInMenu(page: Page, text: string, action: string) {
    await act(page, text, 'More actions');
    await page.getByRole('menuitem', { name: action }).click();
  }

  test('a channel opens at the first unread message, and is read when its end is seen', async () => {
    for (let n = 1; n <= 60; n++) await post(`Unread message ${n}.`);
    const { page } = annDesk;
    await page.goto(`/channels/${channel}`);
    await messageOn(page, 'Unread message 1.').waitFor();
    await page.getByText('New', { exact: true }).waitFor();
    expect(await messageOn(page, 'Unread message 60.').count()).toBe(0);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Go to the newest message' }).click();
    await messageOn(page, 'Unread message 60.').waitFor();
    await expect
      .poll(async () => (await server.as(ann)(`GET /channels/${channel}`)).body.unread_count, {
        timeout: 20_000,
      })
      .toBe(0);
  });

  test('older messages load above, and the message in view keeps its place', async () => {
    const { page } = annDesk;
    await page.getByRole('feed').hover();
    await page.mouse.wheel(0, -1500);
    await messageOn(page, 'Unread message 5.').waitFor();
    for (let round = 0; round < 40 && !(await messageOn(page, 'Old message 1.').count()); round++) {
      await page.mouse.wheel(0, -400);
      await page.waitForTimeout(20);
    }
    await messageOn(page, 'Old message 1.').waitFor();
    await page.getByText('This is the beginning of general').waitFor();
    const before = await topOf(page, 'Old message 5.');
    await post('News from Bob.');
    await page.getByRole('button', { name: '1 new message' }).waitFor();
    expect(await topOf(page, 'Old message 5.')).toBe(before);
    await page.getByRole('button', { name: '1 new message' }).click();
    await messageOn(page, 'News from Bob.').waitFor();
  });

  test('two people talk, react, edit, quote, pin and delete, and each sees the other live', async () => {
    const [{ page: annPage }, { page: bobPage }] = [annDesk, bobDesk];
    await bobPage.goto(`/channels/${channel}`);
    await composer(bobPage).pressSequentially('Hel');
    await annPage.getByText('Bob is typing').waitFor();
    await say(bobPage, 'Hello Ann!');
    await messageOn(annPage, 'Hello Ann!').waitFor();
    await say(annPage, 'Hello Bob, what a **day**!');
    await messageOn(bobPage, 'Hello Bob').waitFor();
    await expect.poll(() => messageOn(annPage, 'Hello Bob').count()).toBe(1);

    await act(annPage, 'Hello Ann!', 'React with 👍');
    await messageOn(bobPage, 'Hello Ann!').getByRole('button', { name: '👍, 1 reaction' }).click();
    await messageOn(annPage, 'Hello Ann!')
      .getByRole('button', { name: '👍, 2 reactions', pressed: true })
      .click();
    await messageOn(bobPage, 'Hello Ann!')
      .getByRole('button', { name: '👍, 1 reaction', pressed: true })
      .waitFor();

    await act(annPage, 'Hello Bob', 'Edit');
    await annPage.getByLabel('Edit the message').fill('Hello Bob, what a night!');
    await annPage.keyboard.press('Enter');
    await messageOn(bobPage, 'what a night!').getByText('edited').waitFor();

    await act(bobPage, 'what a night!', 'Quote');
    await say(bobPage, 'It was long.');
    await messageOn(annPage, 'It was long.')
      .getByRole('button', { name: /Go to the quoted message of Ann/ })
      .click();

    await actInMenu(annPage, 'It was long.', 'Pin');
    await messageOn(bobPage, 'It was long.').getByRole('img', { name: 'Pinned' }).waitFor();

    await actInMenu(annPage, 'what a night!', 'Delete');
    await annPage.getByRole('button', { name: 'Delete the message' }).click();
    await expect.poll(() => bobPage.getByRole('article', { name: /^Ann/ }).count()).toBe(0);
    await messageOn(bobPage, 'It was long.').getByText('This message was deleted').waitFor();
    expect(await violationsOn(annPage)).toEqual([]);
  });

  test('a thread stands beside the main line, and keeps a deleted root', async () => {
    const [{ page: annPage }, { page: bobPage }] = [annDesk, bobDesk];
    await say(annPage, 'Where do we eat?');
    await act(bobPage, 'Where do we eat?', 'Reply in thread');
    const thread = bobPage.getByRole('complementary', { name: 'Thread' });
    await thread.getByRole('textbox', { name: 'Reply' }).fill('At the harbour.');
    await bobPage.keyboard.press('Enter');
    await thread.getByText('At the harbour.').waitFor();
    expect(await violationsOn(bobPage)).toEqual([]);
    await messageOn(annPage, 'Where do we eat?')
      .getByRole('button', { name: /1 reply/ })
      .click();
    const annThread = annPage.getByRole('complementary', { name: 'Thread' });
    await annThread.getByText('At the harbour.').waitFor();
    await annThread.getByRole('button', { name: 'Close' }).click();
    await actInMenu(annPage, 'Where do we eat?', 'Delete');
    await annPage.getByRole('button', { name: 'Delete the message' }).click();
    await thread.getByText('This message was deleted').waitFor();
    await thread.getByText('At the harbour.').waitFor();
  });

  test('a link leads to a message and to a reply', async () => {
    const { page } = annDesk;
    const { id } = (await server.as(ann)(`GET /channels/${channel}/messages?limit=200`)).body.find(
      ({ content }: { content: string }) => content === 'Old message 40.',
    );
    const reply = await post('Deep in a thread.', { parent_id: id });
    await page.goto(`/channels/${channel}?message=${id}`);
    await messageOn(page, 'Old message 40.').waitFor();
    await page.goto(`/channels/${channel}?message=${reply.id}`);
    await page.getByRole('complementary', { name: 'Thread' }).getByText('Deep in a thread.').waitFor();
  });

  test('the keyboard alone reads, edits and deletes', async () => {
    const { page } = annDesk;
    await page.goto(`/channels/${channel}`);
    await say(page, 'Typed by hand.');
    await stored(page, 'Typed by hand.').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('e');
    await page.getByLabel('Edit the message').fill('Typed by hand again.');
    await page.keyboard.press('Enter');
    // The focus is on the message again after the edit, and after its thread.
    await stored(page, 'Typed by hand again.').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('t');
    const thread = page.getByRole('complementary', { name: 'Thread' });
    await thread.getByRole('textbox', { name: 'Reply' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await thread.waitFor({ state: 'detached' });
    await stored(page, 'Typed by hand again.').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Delete the message' }).press('Enter');
    await expect.poll(() => messageOn(page, 'Typed by hand').count()).toBe(0);
  });

  test('a message of 64 KiB is folded, and hostile names stay text', async () => {
    const { page } = annDesk;
    const hostile = '<img src=x onerror=alert(1)>';
    await post(`${hostile} ${'word '.repeat(13_000)}the end`);
    await messageOn(page, hostile).getByRole('button', { name: 'Show all' }).click();
    await messageOn(page, hostile).getByRole('button', { name: 'Show less' }).waitFor();
    expect((await messageOn(page, hostile).boundingBox())?.height).toBeGreaterThan(2000);
  });

  test('a phone shows the actions after a long press', async () => {
    const { page, context, faults } = await openDesk(browser, server, bob, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    await page.goto(`/channels/${channel}`);
    await composer(page).fill('From my pocket.');
    await page.getByRole('button', { name: 'Send' }).tap();
    const row = stored(page, 'From my pocket.');
    await row.waitFor();
    await row.dispatchEvent('touchstart', { touches: [{ identifier: 0, clientX: 100, clientY: 100 }] });
    await page.getByRole('dialog', { name: 'Actions on the message' }).waitFor();
    await row.dispatchEvent('touchend', {});
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'React with ✅' }).click();
    await row.getByRole('button', { name: '✅, 1 reaction' }).waitFor();
    // Enter begins a line, as in the composer.
    await row.dispatchEvent('touchstart', { touches: [{ identifier: 0, clientX: 100, clientY: 100 }] });
    await page.getByRole('dialog').getByRole('button', { name: 'Edit' }).click();
    await row.dispatchEvent('touchend', {});
    const field = page.getByRole('textbox', { name: 'Edit the message' });
    await field.press('Enter');
    await field.pressSequentially('Twice.');
    expect(await field.inputValue()).toBe('From my pocket.\nTwice.');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('nothing went wrong in the browsers', () => {
    expect([...annDesk.faults, ...bobDesk.faults]).toEqual([]);
  });
});
