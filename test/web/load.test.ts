import { afterAll, describe, expect, test } from 'vitest';
import { signUp, startServer } from '../support/server.ts';
import { launchBrowser, openDesk, withoutBrowser } from './browser.ts';

/** What a person waits for at the first visit. */
const MAX_SCRIPT_BYTES = 220 * 1024;

/** Notes the moment at which the channel shows its message and takes another. Runs in the page. */
const noteUsable = `new MutationObserver((_records, observer) => {
  if (!document.querySelector('textarea') || !document.body.textContent.includes('Hello')) return;
  globalThis.usableAt = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });`;

/** The sizes of the scripts that had arrived by then, as they were sent. */
const SIZES = `performance.getEntriesByType('resource')
  .filter(({ name, responseEnd }) => name.endsWith('.js') && responseEnd <= globalThis.usableAt)
  .map(({ encodedBodySize }) => encodedBodySize)`;

describe.skipIf(withoutBrowser)('the first visit (needs chromium)', async () => {
  if (withoutBrowser) return;
  const server = await startServer();
  const ada = await signUp(server, 'Ada');
  const browser = await launchBrowser();
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  test('loads at most 220 KB of compressed JavaScript before a channel can be used', async () => {
    const call = server.as(ada);
    const { body: channel } = await call('POST /channels/create', { name: 'general' });
    await call(`POST /channels/${channel.id}/messages/post`, { content: 'Hello **Ada**' });
    const { page, faults } = await openDesk(browser, server, ada);
    await page.addInitScript(noteUsable);
    await page.goto(`/channels/${channel.id}`);
    await page.getByText('Hello').waitFor();
    await page.getByRole('textbox', { name: /message/i }).waitFor();
    const sizes = await page.evaluate<number[]>(SIZES);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    console.info(`${sizes.length} scripts, ${Math.round(total / 1024)} KB compressed`);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
    expect(faults).toEqual([]);
  });
});
