import type { CDPSession, Page } from 'playwright-core';
import type { Desk } from '../../../test/web/browser.ts';
import { median } from '../../support/rounds.ts';

const SLOWED = 4;
const composerOf = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

async function slow(page: Page, rate: number): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  return session;
}

/** Compressed scripts of a first visit. */
export async function scriptSize({ page, context }: Desk, path: string): Promise<number> {
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const scripts = new Set<string>();
  let bytes = 0;
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator('article:visible').first().waitFor();
  await composerOf(page).waitFor();
  await context.close();
  return bytes / 1024;
}

/** From the key press to the frame after the one that paints the message. */
export async function keyToPaint(page: Page, times: number): Promise<number> {
  await composerOf(page).waitFor();
  await page.locator('article:visible').first().waitFor();
  await slow(page, SLOWED);
  const taken: number[] = [];
  for (let n = 0; n < times; n++) {
    const text = `Own message ${n} ${Date.now()}`;
    await composerOf(page).fill(text);
    await page.evaluate(watchFor(text));
    await page.keyboard.press('Enter');
    taken.push(await page.evaluate<number>('globalThis.painted'));
  }
  await slow(page, 1);
  return median(taken);
}

/** Runs in the page, which has types that the server's sources do not know. */
const watchFor = (text: string) => `void (globalThis.painted = new Promise((resolve) => {
  document.addEventListener('keydown', ({ timeStamp }) => {
    const { port1, port2 } = new MessageChannel();
    const afterFrame = () => requestAnimationFrame(() => port2.postMessage(0));
    const isThere = () =>
      [...document.querySelectorAll('article')].some(({ textContent }) => textContent.includes(${JSON.stringify(text)}));
    port1.onmessage = () => (isThere() ? resolve(performance.now() - timeStamp) : afterFrame());
    afterFrame();
  }, { capture: true, once: true });
}))`;

/** Runs in the page: notes the longest pause between two frames. */
const WATCH_FRAMES = `{
  globalThis.worstFrame = 0;
  let last;
  const next = (now) => {
    if (last !== undefined) globalThis.worstFrame = Math.max(globalThis.worstFrame, now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}`;

const EVERY_MS = 20;

/** The longest pause between two frames while others post 50 messages a second. */
export async function worstFrame(
  page: Page,
  post: (n: number) => Promise<unknown>,
  count: number,
): Promise<number> {
  await page.evaluate(WATCH_FRAMES);
  const began = performance.now();
  const posts: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    posts.push(post(n));
    const wait = began + (n + 1) * EVERY_MS - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  await Promise.all(posts);
  return page.evaluate<number>('globalThis.worstFrame');
}

const AT_ONCE = 20;
const SAMPLES = 12;

/** Kilobytes of the heap that 1,000 messages leave behind: the slope of a line through samples, after the first quarter. */
export async function memoryTrend(
  page: Page,
  post: (n: number) => Promise<unknown>,
  count: number,
): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize / 1024;
  };
  const points: [number, number][] = [];
  const step = count / SAMPLES;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const end = (sample + 1) * step;
    for (let n = sample * step; n < end; n += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => post(n + more)));
    await page
      .getByText(`Message ${end - 1} of a burst.`)
      .last()
      .waitFor();
    points.push([end / 1_000, await heap()]);
  }
  return slope(points.slice(SAMPLES / 4));
}

/** Of the line with the least squares. */
function slope(points: [number, number][]): number {
  const mean = (pick: 0 | 1) => points.reduce((sum, point) => sum + point[pick], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const together = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return together / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}
