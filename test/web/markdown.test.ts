import { afterAll, describe, expect, test } from 'vitest';
import { makeChannel } from '../support/channels.ts';
import { signUp, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, visit, withoutBrowser } from './browser.ts';

const KIB = 1024;

describe.skipIf(withoutBrowser)(
  'Markdown in messages (skipped without the Debian package chromium)',
  async () => {
    if (withoutBrowser) return;
    const server = await startServer();
    const ada = await signUp(server, 'Ada');
    const browser = await launchBrowser();
    const { page, faults } = await openDesk(browser, server, ada, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    afterAll(async () => {
      await browser.close();
      await server.close();
    });

    /** Opens a new channel with these messages. */
    async function show(...contents: string[]): Promise<void> {
      const id = await makeChannel(server, ada);
      for (const content of contents) {
        const { status } = await server.as(ada)(`POST /channels/${id}/messages/post`, { content });
        expect(status).toBe(200);
      }
      await visit(page, `/channels/${id}`);
    }

    test('formats text, lists, tables and code', async () => {
      await show(
        [
          '## Plan',
          'Some **bold**, *soft* and ~~old~~ words\nin two lines with `code` and https://example.com/a.',
          '- [x] write\n- [ ] read',
          '| name | count |\n| --- | ---: |\n| apples | 3 |',
          '```python\ndef add(a, b):\n    return a + b\n```',
        ].join('\n\n'),
      );
      await page.getByRole('heading', { name: 'Plan' }).waitFor();
      expect(await page.locator('strong', { hasText: 'bold' }).count()).toBe(1);
      await page.getByRole('img', { name: 'Not done' }).waitFor();
      await page.getByRole('cell', { name: 'apples' }).waitFor();
      const link = page.getByRole('link', { name: 'https://example.com/a' });
      expect(await link.getAttribute('rel')).toContain('noopener noreferrer');
      await page.locator('pre span[style]', { hasText: 'return' }).waitFor();
      await page.getByRole('button', { name: 'Copy the code' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        'def add(a, b):\n    return a + b\n',
      );
      expect(await violationsOn(page)).toEqual([]);
    });

    test('shows mentions by their names, and marks the own ones', async () => {
      await show(
        `| who |\n| --- |\n| <@U:${ada.id}|Ada_of_old_> |\n\n<@M:a/b:1|A *model*> and @channel, not a@channel`,
      );
      const chips = page.locator('[class*=mention]');
      await chips.first().waitFor();
      expect(await chips.allTextContents()).toEqual(['@Ada_of_old_', '@A *model*', '@channel']);
      expect(
        await chips.evaluateAll((all) => all.map((one) => (one as { dataset?: object }).dataset)),
      ).toMatchObject([{ own: 'true' }, {}, { own: 'true' }]);
    });

    test('a text from right to left begins at the right', async () => {
      await show('مرحبا 123 abc');
      const text = page.locator('p', { hasText: 'مرحبا' });
      await text.waitFor();
      const gap = await page.evaluate(`(() => {
        const text = [...document.querySelectorAll('p')].find(({ textContent }) => textContent.includes('مرحبا'));
        const range = document.createRange();
        range.selectNodeContents(text);
        return text.getBoundingClientRect().right - range.getBoundingClientRect().right;
      })()`);
      expect(gap).toBeLessThan(2);
    });

    test('runs nothing, asks no other host, and shows hostile text as text', async () => {
      await show(
        '<script>window.hit = 1</script><img src="x" onerror="window.hit = 1"><svg onload="window.hit = 1">',
        '[one](javascript:window.hit=1) [two](data:text/html,<script>window.hit=1</script>) [three](vbscript:x)',
        '<javascript:window.hit=1> [four]( java\tscript:window.hit=1) ![five](javascript:window.hit=1)',
        '![a picture](http://other.example/p.png) ![own](/api/v1/users/x) <iframe src="http://other.example">',
        '[six][1]\n\n[1]: javascript:window.hit=1',
      );
      await page.getByText('<script>window.hit = 1</script>').waitFor();
      await page.getByRole('link', { name: 'a picture' }).waitFor();
      const hrefs = await page
        .locator('main a')
        .evaluateAll((all) => all.map((one) => String((one as { href?: string }).href)));
      expect(hrefs.filter((href) => !/^https?:/.test(href))).toEqual([]);
      expect(await page.locator('main :is(script, iframe, svg[onload], img[onerror])').count()).toBe(0);
      expect(await page.evaluate('window.hit')).toBe(undefined);
      expect(faults).toEqual([]);
    });

    test.each([
      ['64 KiB of stars', '*'.repeat(64 * KIB)],
      ['64 KiB of brackets', '['.repeat(64 * KIB)],
      ['64 KiB of open emphasis', '*a_'.repeat(21 * KIB)],
      ['1,000 quotes in each other', `${'>'.repeat(1000)} deep`],
      ['1,000 lists in each other', `${'- '.repeat(1000)}deep`],
      ['quotes with lazy lines', `${'>'.repeat(1000)} x\n${'a\n'.repeat(30 * KIB)}`],
      ['a table of 3,000 columns', `${'|a'.repeat(3000)}\n${'|-'.repeat(3000)}\n${'|b'.repeat(3000)}`],
      ['64 KiB of code in one line', `\`\`\`js\n${'(['.repeat(32_000)}`],
    ])('stays usable with %s', async (_name, content) => {
      await show(content, 'the last message');
      await page.getByText('the last message').waitFor();
      if (content.length > 4000) await page.getByRole('button', { name: 'Show all' }).click();
      const field = page.getByRole('textbox', { name: 'Message' });
      await field.fill('I can still write');
      expect(await field.inputValue()).toBe('I can still write');
      expect(faults).toEqual([]);
    });
  },
);
