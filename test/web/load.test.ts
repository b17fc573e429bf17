import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { signUpAll, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
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

const MANY = 100_000;
const UNREAD = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe.skipIf(withoutBrowser)('the first visit, and a long channel (needs chromium)', async () => {
  if (withoutBrowser) return;
  const server = await startServer();
  const [ada, bob] = await signUpAll(server, 'Ada', 'Bob');
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

  /** Fills a channel with messages of Bob, one for each minute until now; Ada has not read the last thousand. @returns the time of message 0 */
  async function fill(channel: string): Promise<number> {
    const start = BigInt(Date.now() - MANY * MINUTE_MS) * 1_000_000n;
    const { query } = server.database;
    await query(
      `insert into message (channel_id, id, user_id, content, data, meta, created_at, updated_at)
       select $1, gen_random_uuid(), $2, 'Message ' || n || ' of many.', '{}', '{}', at, at
         from generate_series(1, $3::int) n, lateral (select $4::bigint + n * $5::bigint as at) t`,
      [channel, bob.id, MANY, start, MINUTE_MS * 1e6],
    );
    await query('update channel set last_message_at = $2::bigint + $3 * $4::bigint where id = $1', [
      channel,
      start,
      MANY,
      MINUTE_MS * 1e6,
    ]);
    await query('analyze message');
    const last_read_at = Number(start) + (MANY - UNREAD) * MINUTE_MS * 1e6;
    expect((await server.as(ada)(`POST /channels/${channel}/read`, { last_read_at })).status).toBe(200);
    return Number(start / 1_000_000n);
  }

  /** Whether a message is in the view, not only in the part of the list that is drawn. */
  const isInView = (page: Page, n: number) =>
    page
      .getByText(`Message ${n} of many.`)
      .evaluateAll(
        (all) =>
          all.length === 1 &&
          all.every((one) => one.getBoundingClientRect().top > 0 && one.getBoundingClientRect().bottom < 800),
      );

  /** The number of the first message that is drawn. Runs in the page. */
  const numberOfFirst = ([one]: { textContent: string | null }[]) =>
    Number(/\d+/.exec(one?.textContent ?? '')?.[0] ?? Number.NaN);

  test('a channel of 100,000 messages opens at the first unread, jumps to a day, and scrolls up from there', async () => {
    const { body } = await server.as(ada)('POST /channels/create', { name: 'long' });
    const start = await fill(body.id);
    const { page, context, faults } = await openDesk(browser, server, ada, { timezoneId: 'UTC' });
    await page.goto(`/channels/${body.id}`);
    await expect.poll(() => isInView(page, MANY - UNREAD + 1)).toBe(true);
    await page.getByText('New', { exact: true }).waitFor();

    const button = page.getByRole('button', { name: 'Jump to a date' });
    await button.click();
    await page.getByRole('button', { name: 'Previous month' }).waitFor();
    await page.keyboard.press('Escape');
    await button.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    // A day of the month before: the first message of its first minute.
    const day = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
    day.setUTCDate(0);
    await page.getByRole('button', { name: 'Previous month' }).click();
    const label = day.toLocaleDateString('en-GB', {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    });
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: label, exact: true }).click();
    const first = Math.ceil((day.getTime() - start) / MINUTE_MS);
    await expect.poll(() => isInView(page, first)).toBe(true);

    await page.getByRole('feed').hover();
    const scrollUp = async () => {
      await page.mouse.wheel(0, -3000);
      return page.getByText(/^Message \d+ of many\.$/).evaluateAll(numberOfFirst);
    };
    await expect.poll(scrollUp).toBeLessThan(first - 200);

    // At the edge the list cannot scroll: the person tries again, and older messages come.
    await page.route(/messages\.list/, (route) => route.abort());
    const atEdge = () => page.getByRole('feed').evaluate(({ scrollTop }) => scrollTop);
    await expect.poll(() => scrollUp().then(atEdge)).toBe(0);
    await page.unroute(/messages\.list/);
    const edge = await scrollUp();
    await expect.poll(scrollUp).toBeLessThan(edge - 20);
    await page.getByRole('button', { name: 'Go to the newest message' }).click();
    await expect.poll(() => isInView(page, MANY)).toBe(true);
    expect(faults).toEqual([]);
    await context.close();
  });
});
