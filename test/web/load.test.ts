import { afterAll, describe, expect, test } from 'vitest';
import { signUp, startServer } from '../support/server.ts';
import { launchBrowser, openDesk, withoutBrowser } from './browser.ts';

/** What a person waits for at the first visit. */
const MAX_SCRIPT_BYTES = 220 * 1024;

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
    const sizes = new Map<string, Promise<number>>();
    page.on('response', (response) => {
      if (!/\.js$/.test(response.url())) return;
      sizes.set(
        response.url(),
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => responseBodySize),
      );
    });
    await page.goto(`/channels/${channel.id}`);
    await page.getByText('Hello').waitFor();
    await page.getByRole('textbox', { name: /message/i }).waitFor();
    const loaded = await Promise.all(sizes.values());
    const total = loaded.reduce((sum, size) => sum + size, 0);
    console.info(`${loaded.length} scripts, ${Math.round(total / 1024)} KB compressed`);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
    expect(faults).toEqual([]);
  });
});
