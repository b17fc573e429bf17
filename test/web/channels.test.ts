import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { upload } from '../files/forms.ts';
import { grant } from '../support/channels.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, openDesks, visit, withoutBrowser } from './browser.ts';

/** A browser without a screen has no notifications to look at, and its window always has the focus. */
const RECORDED = `
  globalThis.shown = [];
  globalThis.Notification = class {
    static permission = 'granted';
    constructor(title, { body }) {
      shown.push(title + ': ' + body);
    }
  };
  document.hasFocus = () => false;
`;

const row = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

describe.skipIf(withoutBrowser)('channels (skipped without the Debian package chromium)', async () => {
  if (withoutBrowser) return;
  const server = await startServer();
  const [root, ann, bob] = await signUpAll(server, 'Root', 'Ann', 'Bob');
  const browser = await launchBrowser();
  const deskOf = openDesks(browser, server);
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  /** Makes a channel in which everyone writes. @returns its id */
  async function openToAll(name: string): Promise<string> {
    const access_grants = [grant('*', 'read'), grant('*', 'write')];
    const { body } = await server.as(root)('POST /channels/create', { name, access_grants });
    return body.id;
  }

  test('an administrator makes a channel for one person, who sees it and what is new in it at once', async () => {
    const admin = await deskOf(root);
    const reader = await deskOf(ann);
    await visit(reader.page, '/');
    await reader.page.getByRole('heading', { name: 'There is no channel yet' }).waitFor();
    await visit(admin.page, '/');
    const { page } = admin;
    await page.getByRole('main').getByRole('button', { name: 'New channel' }).click();
    const dialog = page.getByRole('dialog', { name: 'New channel' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('engines');
    await dialog.getByRole('combobox', { name: 'Access of Everyone' }).selectOption('No access');
    await dialog.getByRole('textbox', { name: 'Give access to' }).fill('an');
    await page.getByRole('option', { name: /Ann/ }).click();
    await dialog.getByRole('combobox', { name: 'Access of Ann' }).selectOption('Can read and write');
    expect(await violationsOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await heading(page, 'engines').waitFor();

    await row(reader.page, 'engines').waitFor();
    const id = page.url().split('/').at(-1);
    await visit(reader.page, '/search');
    await server.as(root)(`POST /channels/${id}/messages/post`, { content: 'Steam' });
    await row(reader.page, 'engines 1 unread message').waitFor();
    await server.as(root)(`POST /channels/${id}/messages/post`, { content: 'Look, @Ann' });
    await row(reader.page, 'engines 1 mention').waitFor();
    await expect.poll(() => reader.page.title()).toMatch(/^\(1\) /);
    expect(await violationsOn(reader.page)).toEqual([]);
    await row(reader.page, 'engines').click();
    await heading(reader.page, 'engines').waitFor();
    await reader.page.getByText('Steam').waitFor();
    await expect.poll(() => reader.page.title()).not.toMatch(/^\(/);
    expect([...admin.faults, ...reader.faults]).toEqual([]);
  });

  test('what is read elsewhere, and the notification level, change the list at once', async () => {
    const channel = await openToAll('quiet');
    await server.as(bob)(`POST /channels/${channel}/messages/post`, { content: 'one' });
    const { page, faults } = await deskOf(ann);
    await visit(page, '/threads');
    await row(page, 'quiet 1 unread message').waitFor();
    await server.as(ann)(`POST /channels/${channel}/read`, {});
    await row(page, 'quiet')
      .and(page.getByRole('link', { name: 'quiet', exact: true }))
      .waitFor();
    await row(page, 'quiet').hover();
    await page.getByRole('button', { name: 'Actions for quiet' }).click();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('menuitemradio', { name: 'Nothing' }).click();
    await row(page, 'quiet Muted').waitFor();
    await server.as(bob)(`POST /channels/${channel}/messages/post`, { content: 'two' });
    await server.as(bob)(`POST /channels/${channel}/messages/post`, { content: 'hello @Ann' });
    await row(page, 'quiet Muted 1 mention').waitFor();
    expect(faults).toEqual([]);
  });

  test('a person makes a group, changes its members, and leaves it', async () => {
    const { page, faults } = await deskOf(ann);
    const other = await deskOf(bob);
    await visit(other.page, '/threads');
    await visit(page, '/threads');
    await page.getByRole('button', { name: 'New group' }).click();
    const dialog = page.getByRole('dialog', { name: 'New group' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Crew');
    await dialog.getByRole('textbox', { name: 'Members' }).fill('bob');
    await page.getByRole('option', { name: /Bob/ }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await heading(page, 'Crew').waitFor();
    await row(other.page, 'Crew').waitFor();

    await page.getByRole('button', { name: '2 members' }).click();
    const details = page.getByRole('dialog', { name: 'Crew' });
    await details.getByRole('button', { name: 'Actions for Bob' }).click();
    await page.getByRole('menuitem', { name: 'Make a manager' }).click();
    await expect.poll(() => details.getByText('Manager').count()).toBe(2);
    await details.getByRole('textbox', { name: 'Add members' }).fill('root');
    await page.getByRole('option', { name: /Root/ }).click();
    await details.getByRole('button', { name: 'Add 1 to the group' }).click();
    await details.getByText('3 members').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await details.getByRole('button', { name: 'Actions for Root' }).click();
    await page.getByRole('menuitem', { name: 'Remove from the group' }).click();
    await details.getByText('2 members').waitFor();

    const left = page.url().split('/').at(-1);
    await details.getByRole('tab', { name: 'About' }).click();
    await details.getByRole('button', { name: 'Leave the group' }).click();
    await page.getByRole('button', { name: 'Leave', exact: true }).click();
    await row(page, 'Crew').waitFor({ state: 'detached' });
    await row(other.page, 'Crew').waitFor();
    expect(page.url()).not.toContain(left);
    expect([...faults, ...other.faults]).toEqual([]);
  });

  test('a direct message opens by the name of the person, and hides until it is shown again', async () => {
    const { page, faults } = await deskOf(ann);
    const other = await deskOf(bob);
    await visit(other.page, '/threads');
    await visit(page, '/threads');
    await page.getByRole('button', { name: 'New direct message' }).click();
    await page.getByRole('textbox', { name: 'To' }).fill('bob');
    await page.getByRole('option', { name: /Bob/ }).click();
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await heading(page, 'Bob').waitFor();
    await row(other.page, 'Ann').waitFor();
    await row(page, 'Online Bob').waitFor();

    await row(page, 'Bob').hover();
    await page.getByRole('button', { name: 'Actions for Bob' }).click();
    await page.getByRole('menuitem', { name: 'Hide from the list' }).click();
    await row(page, 'Bob').waitFor({ state: 'detached' });
    await heading(page, 'Bob').waitFor({ state: 'detached' });
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Hidden and other channels' }).click();
    await page.getByRole('button', { name: 'Show Bob' }).click();
    await row(page, 'Bob').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect([...faults, ...other.faults]).toEqual([]);
  });

  test('a manager describes a channel, adds a webhook, and deletes the channel by its name', async () => {
    const channel = await openToAll('old plans');
    const { body: pinned } = await server.as(root)(`POST /channels/${channel}/messages/post`, {
      content: 'Keep this',
    });
    await server.as(root)(`POST /channels/${channel}/messages/${pinned.id}/pin`, { is_pinned: true });
    const { page, faults } = await deskOf(root);
    const reader = await deskOf(ann);
    await visit(reader.page, `/channels/${channel}`);
    await heading(reader.page, 'old plans').waitFor();
    await visit(page, `/channels/${channel}`);
    await page.getByRole('button', { name: 'Details of the channel' }).click();
    const details = page.getByRole('dialog', { name: 'old plans' });
    await details.getByRole('button', { name: 'Edit' }).click();
    // Another administrator shares the channel while the form is open.
    await server.as(root)(`POST /channels/${channel}/access/update`, {
      access_grants: [grant(ann.id, 'read'), grant(bob.id, 'read')],
    });
    await details.getByRole('textbox', { name: 'Description' }).fill('What we meant to do');
    await details.getByRole('button', { name: 'Save' }).click();
    await details.getByText('What we meant to do').waitFor();
    const { access_grants: grants } = (await server.as(root)(`GET /channels/${channel}`)).body;
    expect(grants.map(({ principal_id: id }: { principal_id: string }) => id).sort()).toEqual(
      [ann.id, bob.id].sort(),
    );
    expect(await violationsOn(page)).toEqual([]);

    await details.getByRole('tab', { name: 'Webhooks' }).click();
    await details.getByRole('textbox', { name: 'Name of a new webhook' }).fill('Builds');
    await details.getByRole('button', { name: 'Add' }).click();
    const address = await details.getByLabel('Address of Builds', { exact: true }).inputValue();
    const posted = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'The build is green' }),
    });
    expect(posted.status).toBe(200);
    expect(await violationsOn(page)).toEqual([]);
    await details.getByRole('tab', { name: 'Pinned' }).click();
    await details.getByRole('link', { name: /Keep this/ }).waitFor();
    const [{ id: hooked }] = (await server.as(root)(`GET /channels/${channel}/messages`)).body;
    await server.as(root)(`POST /channels/${channel}/messages/${hooked}/pin`, { is_pinned: true });
    // The name of the webhook, not of the account that made it.
    await details.getByRole('link', { name: /Builds.*The build is green/ }).waitFor();
    await server.as(root)(`DELETE /channels/${channel}/messages/${hooked}/delete`);
    await details.getByRole('link', { name: /The build is green/ }).waitFor({ state: 'detached' });
    expect(await violationsOn(page)).toEqual([]);
    await details.getByRole('tab', { name: 'Files' }).click();
    await details.getByText('No files yet').waitFor();
    const file = (await upload(server, root, 'Coal', { filename: 'stores.txt' })).body;
    await server.as(root)(`POST /channels/${channel}/messages/post`, {
      content: 'The list of stores',
      data: { files: [{ type: 'file', id: file.id, name: file.filename }] },
    });
    await details.getByRole('link', { name: /stores.txt/ }).waitFor();
    await details.getByRole('link', { name: /The list of stores/ }).waitFor();
    expect(await violationsOn(page)).toEqual([]);

    await details.getByRole('tab', { name: 'About' }).click();
    await details.getByRole('button', { name: 'Delete the channel' }).click();
    const question = page.getByRole('dialog', { name: 'Delete old plans?' });
    const button = question.getByRole('button', { name: 'Delete the channel' });
    expect(await button.isDisabled()).toBe(true);
    await question.getByRole('textbox').fill('old plans');
    await button.click();
    await row(page, 'old plans').waitFor({ state: 'detached' });
    await row(reader.page, 'old plans').waitFor({ state: 'detached' });
    expect([...faults, ...reader.faults]).toEqual([]);
  });

  test('on a phone, a long press opens the menu of a channel', async () => {
    const channel = await openToAll('pocket');
    await server.as(bob)(`POST /channels/${channel}/messages/post`, { content: 'one' });
    const { page, context, faults } = await openDesk(browser, server, ann, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    await page.goto('/threads');
    await page.getByRole('button', { name: 'Open navigation' }).tap();
    const list = page.getByRole('dialog', { name: 'Main navigation' });
    const pocket = list.getByRole('link', { name: 'pocket 1 unread message' });
    await pocket.waitFor();
    const finger = await context.newCDPSession(page);
    const { x, y } = (await pocket.boundingBox()) ?? { x: 0, y: 0 };
    const touchPoints = [{ x: x + 60, y: y + 10 }];
    await finger.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
    const menu = page.getByRole('menu', { name: 'Actions for pocket' });
    await menu.waitFor();
    await finger.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    expect(await violationsOn(page)).toEqual([]);
    const box = await menu.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844).toBe(true);
    await menu.getByRole('menuitem', { name: 'Mark as read' }).tap();
    await menu.waitFor({ state: 'detached' });
    await list.getByRole('link', { name: 'pocket', exact: true }).tap();
    await list.waitFor({ state: 'detached' });
    await heading(page, 'pocket').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('Esc closes each overlay, and the focus goes back to the control that opened it', async () => {
    const channel = await openToAll('keys');
    const { page, faults } = await deskOf(ann);
    await page.goto(`/channels/${channel}`);
    await heading(page, 'keys').waitFor();
    await row(page, 'keys').hover();
    const hasFocus = (control: Locator) => control.and(page.locator(':focus')).waitFor();
    const OVERLAYS: [opener: string, overlay: Locator][] = [
      ['Jump to a date', page.getByRole('button', { name: 'Previous month' })],
      ['Details of the channel', page.getByRole('dialog', { name: 'keys' })],
      ['New group', page.getByRole('dialog', { name: 'New group' })],
      ['Hidden and other channels', page.getByRole('dialog')],
      ['Add an emoji', page.getByRole('gridcell').first()],
      ['Actions for keys', page.getByRole('menu')],
    ];
    for (const [name, overlay] of OVERLAYS) {
      // The first time the overlay is loaded, the second time it is there.
      for (const _time of ['first', 'second']) {
        const opener = page.getByRole('button', { name, exact: true });
        await opener.focus();
        await page.keyboard.press('Enter');
        await overlay.waitFor();
        await page.locator('[data-portal] :focus').waitFor({ state: 'attached' });
        await page.keyboard.press('Escape');
        await overlay.waitFor({ state: 'hidden' });
        await hasFocus(opener);
      }
    }
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Go to a channel').waitFor();
    await page.keyboard.press('Escape');
    await hasFocus(page.getByRole('textbox', { name: 'Message' }));
    expect(faults).toEqual([]);
  });

  test('the palette and the keys lead to channels, people and actions', async () => {
    await openToAll('alpha');
    await openToAll('beta');
    const { page, faults } = await deskOf(ann);
    await visit(page, '/threads');
    await row(page, 'alpha').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Go to a channel').fill('alph');
    await page.getByRole('button', { name: 'alpha', exact: true }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await heading(page, 'alpha').waitFor();
    await page.keyboard.press('Alt+ArrowDown');
    await heading(page, 'beta').waitFor();
    await page.keyboard.press('Alt+ArrowUp');
    await heading(page, 'alpha').waitFor();
    await page.route(/channels\.direct/, (route) => route.abort());
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Go to a channel').fill('bob');
    await page.getByRole('dialog').getByRole('button', { name: /Bob/ }).last().click();
    await page.getByRole('alert').filter({ hasText: 'The server' }).waitFor();
    await page.unroute(/channels\.direct/);
    await page.getByRole('main').focus();
    await page.keyboard.press('Shift+?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Go to a channel').fill('bob');
    await page.getByRole('button', { name: 'Bob', exact: true }).last().click();
    await heading(page, 'Bob').waitFor();
    expect(faults).toEqual([]);
  });

  test('a message to the person shows a notification while the window is away', async () => {
    const channel = await openToAll('tower');
    const { page, context, faults } = await openDesk(browser, server, ann);
    await page.addInitScript(RECORDED);
    await page.goto('/threads');
    await row(page, 'tower').waitFor();
    await server.as(bob)(`POST /channels/${channel}/messages/post`, {
      content: 'not for Ann, but for @Anna and x@here.example',
    });
    await server.as(bob)(`POST /channels/${channel}/messages/post`, {
      content: `<@U:${ann.id}|Ann>, come here`,
    });
    await page.waitForFunction('shown.length > 0');
    expect(await page.evaluate('shown')).toEqual(['Bob · tower: @Ann, come here']);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the focus goes into an overlay, and back to its button when it closes', async () => {
    await openToAll('focus');
    const { page, faults } = await deskOf(root);
    await page.goto('/threads');
    await row(page, 'focus').waitFor();
    const focused = page.locator(':focus');
    for (const [name, role] of [
      ['New channel', 'dialog'],
      ['Hidden and other channels', 'dialog'],
      ['Actions for focus', 'menu'],
      ['Root', 'menu'],
    ] as const) {
      const button = page.getByRole('navigation').getByRole('button', { name, exact: true });
      await button.focus();
      await page.keyboard.press('Enter');
      await page.getByRole(role).locator(':focus').waitFor({ state: 'attached' });
      await page.keyboard.press('Escape');
      await page.getByRole(role).waitFor({ state: 'detached' });
      await expect
        .poll(() => focused.getAttribute('aria-label').catch(() => null))
        .toBe(await button.getAttribute('aria-label'));
      expect(await focused.textContent()).toBe(await button.textContent());
    }
    expect(faults).toEqual([]);
  });

  test('a view that fails leaves the navigation in its place', async () => {
    const { page } = await deskOf(root);
    await visit(page, '/channels/no-channel');
    await page.getByRole('heading', { name: 'This view failed' }).waitFor();
    await page
      .getByRole('navigation', { name: 'Main navigation' })
      .getByRole('link', { name: 'Tools' })
      .click();
    await heading(page, 'Tools').waitFor();
  });

  test('a long section shows its first channels, the open one, and all when asked', async () => {
    // Each open page would show each new channel.
    await Promise.all(browser.contexts().map((each) => each.close()));
    await Promise.all(Array.from({ length: 205 }, (_, n) => openToAll(`room ${n}`)));
    const last = await openToAll('zulu');
    const { page, context, faults } = await openDesk(browser, server, ann);
    await page.goto(`/channels/${last}`);
    await row(page, 'zulu').waitFor();
    expect(await row(page, 'room').count()).toBeLessThanOrEqual(200);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: /^Show all 2\d\d$/ }).click();
    await row(page, 'room 204').waitFor();
    expect(await row(page, 'room').count()).toBe(205);
    expect(faults).toEqual([]);
    await context.close();
  });
});
