import { afterAll, describe, expect, test } from 'vitest';
import { grant } from '../support/channels.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesks, visit, withoutBrowser } from './browser.ts';

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Text that browsers would run, and a sign that turns the direction of writing. */
const HOSTILE = '<img src=x onerror=alert(1)>\u202Egnp.exe';

describe.skipIf(withoutBrowser)('the composer (skipped without the Debian package chromium)', async () => {
  if (withoutBrowser) return;
  const server = await startServer();
  const [root, ann] = await signUpAll(server, 'Root', 'Ann', 'Anna');
  const access_grants = [grant('*', 'read'), grant('*', 'write')];
  const { body: channel } = await server.as(root)('POST /channels/create', { name: 'desk', access_grants });
  const newest = async () => {
    const { body } = await server.as(root)(`GET /channels/${channel.id}/messages?limit=1`);
    return body[0];
  };
  const browser = await launchBrowser();
  const deskOf = openDesks(browser, server);
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  test('completes mentions and emoji by the keyboard, and sends tokens', async () => {
    const { page, faults } = await deskOf(root);
    await visit(page, `/channels/${channel.id}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.pressSequentially('Hi @ann');
    await page.getByRole('option', { name: /^Ann / }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    while ((await page.getByRole('option', { selected: true }).innerText()).split('\n')[0] !== 'Ann') {
      await field.press('ArrowDown');
    }
    await field.press('Enter');
    await field.pressSequentially('and @chan');
    await page.getByRole('option', { name: /channel/ }).waitFor();
    await field.press('Tab');
    await field.pressSequentially(':tada');
    await page.getByRole('option', { name: /tada/ }).first().waitFor();
    await field.press('Enter');
    expect(await field.inputValue()).toBe('Hi @Ann and @channel 🎉 ');
    await field.press('Shift+Enter');
    await field.pressSequentially('bold');
    await field.press('Shift+Home');
    await field.press('Control+b');
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('');
    const expected = `Hi <@U:${ann.id}|Ann> and @channel 🎉 \n**bold**`;
    await expect.poll(async () => (await newest())?.content, { timeout: 5000 }).toBe(expected);
    expect(faults).toEqual([]);
  });

  test('keeps the draft of each channel, with its files, over a reload', async () => {
    const { body: other } = await server.as(root)('POST /channels/create', { name: 'shelf' });
    const { page, faults } = await deskOf(root);
    await page.goto(`/channels/${channel.id}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('not yet');
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('a plan') });
    await page.getByRole('button', { name: 'Remove plan.txt' }).waitFor();
    await page.goto(`/channels/${other.id}`);
    await page.getByRole('heading', { level: 1, name: 'shelf' }).waitFor();
    expect(await field.inputValue()).toBe('');
    await page.goto(`/channels/${channel.id}`);
    await page.getByRole('button', { name: 'Remove plan.txt' }).waitFor();
    expect(await field.inputValue()).toBe('not yet');
    await page.getByRole('button', { name: 'Remove plan.txt' }).click();
    await field.fill('');
    expect(faults).toEqual([]);
  });

  test('sends files with previews, and shows hostile names as text', async () => {
    const { page, faults } = await deskOf(root);
    await visit(page, `/channels/${channel.id}`);
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles([
        { name: 'dot.png', mimeType: 'image/png', buffer: PNG },
        { name: HOSTILE, mimeType: 'text/plain', buffer: Buffer.from('x') },
      ]);
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await expect.poll(() => send.isEnabled(), { timeout: 5000 }).toBe(true);
    await send.click();
    await page.getByRole('button', { name: 'Enlarge dot.png' }).click();
    await page.getByRole('dialog', { name: 'dot.png' }).getByRole('img', { name: 'dot.png' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    const link = page.getByRole('link', { name: /Save .*onerror/ });
    expect(await link.getAttribute('href')).toMatch(
      /^\/api\/v1\/files\/[\da-f-]+\/content\?attachment=true$/,
    );
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    await download.path();
    expect(faults).toEqual([]);
  });

  test('says why a file is refused, and keeps what was typed', async () => {
    await server.as(root)('POST /configs/import', { config: { 'files.max_size': 2048 } });
    const { page, faults } = await deskOf(root);
    await page.goto(`/channels/${channel.id}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('with a file');
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'big.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(4096) });
    await page
      .getByRole('alert')
      .filter({ hasText: /larger|large/ })
      .waitFor();
    const send = page.getByRole('button', { name: 'Send', exact: true });
    expect(await send.isDisabled()).toBe(true);
    // Nothing is on its way.
    expect(await send.locator('.mantine-Loader-root').count()).toBe(0);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel big.bin' }).click();
    expect(await field.inputValue()).toBe('with a file');
    await field.fill('');
    await server.as(root)('POST /configs/import', { config: { 'files.max_size': 1_048_576 } });
    expect(faults).toEqual([]);
  });

  test('says that a text is too long before it is sent', async () => {
    const { page, faults } = await deskOf(root);
    await visit(page, `/channels/${channel.id}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('ä'.repeat(32 * 1024 + 1));
    await page.getByText('The message is 2 bytes too long.').waitFor();
    await field.press('Enter');
    expect((await field.inputValue()).length).toBe(32 * 1024 + 1);
    await field.press('Backspace');
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('');
    await expect.poll(async () => (await newest())?.content.length, { timeout: 5000 }).toBe(32 * 1024);
    expect(faults).toEqual([]);
  });

  test('the first click on the emoji button opens the picker, whose data come from this server', async () => {
    const { page, faults } = await deskOf(root);
    await visit(page, `/channels/${channel.id}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('Well done ');
    await page.getByRole('button', { name: 'Add an emoji' }).click();
    await page.getByRole('searchbox').fill('tada');
    await page.getByRole('gridcell').first().click();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toMatch(/^Well done 🎉/u);
    expect(faults).toEqual([]);
  });

  test('takes pasted and dropped files', async () => {
    const { page, faults } = await deskOf(root);
    await visit(page, `/channels/${channel.id}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.waitFor();
    for (const [name, act] of [
      ['pasted.txt', "new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })"],
      ['dropped.txt', "new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })"],
    ]) {
      await field.evaluate(
        (element, script) => new Function('element', script)(element),
        `const data = new DataTransfer();
         data.items.add(new File(['text'], '${name}', { type: 'text/plain' }));
         element.dispatchEvent(${act});`,
      );
      await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
    }
    expect(faults).toEqual([]);
  });
});
