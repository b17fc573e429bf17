import { launchBrowser, openDesk } from '../../test/web/browser.ts';
import { moveTo } from '../support/child.ts';
import { plainResult, type Result } from '../support/report.ts';
import { createChannel, seedMessages, type Workspace } from '../support/workspace.ts';
import { keyToPaint, memoryTrend, scriptSize, worstFrame } from './page/measures.ts';
import { CHANNEL_IS_USABLE, coldVisit, TEXT_IS_USABLE } from './page/visits.ts';

const STORED = 100_000;
/** Messages of an hour with 10 a second. They come faster here. */
const HOUR = 36_000;

/**
 * The page in Chromium, in a channel with many messages. The processor of the browser is slowed where the figure says so;
 * server and browser share the machine.
 */
export async function page(workspace: Workspace): Promise<Result[]> {
  const { parley, quick } = workspace;
  const channelId = await createChannel(parley);
  await seedMessages(workspace, channelId, quick ? 5_000 : STORED);
  const post = (n: number) =>
    parley.asAdministrator(`POST /channels/${channelId}/messages/post`, {
      content: `Message ${n} of a burst.`,
    });
  // The browser inherits the cores of this process.
  moveTo('browser', [process.pid]);
  const browser = await launchBrowser();
  try {
    const open = () => openDesk(browser, parley, parley, { reducedMotion: 'no-preference' });
    const path = `/channels/${channelId}`;
    const kilobytes = await scriptSize(await open(), path);
    const visitor = { server: parley, person: parley };
    const ms = await coldVisit(browser, { ...visitor, path, isUsable: CHANNEL_IS_USABLE });
    const bareMs = await coldVisit(browser, { ...visitor, path: '/version', isUsable: TEXT_IS_USABLE });
    const desk = await open();
    await desk.page.goto(path);
    const keyMs = await keyToPaint(desk.page, quick ? 3 : 15);
    const frameMs = await worstFrame(desk.page, post, quick ? 100 : 1_000);
    const trend = await memoryTrend(desk.page, post, quick ? 1_200 : HOUR);
    return [
      plainResult('page: JavaScript before the first channel is usable, compressed', 'KB', kilobytes, 220),
      plainResult('page: cold load to a usable channel, CPU slowed 4 ×', 'ms', ms, 2_500),
      plainResult('page: the same for a line of plain text', 'ms', bareMs),
      plainResult('page: key press to painted own message, median, CPU slowed 4 ×', 'ms', keyMs, 100),
      plainResult('page: worst frame at 50 messages a second', 'ms', frameMs, 50),
      plainResult('page: growth of memory in 1,000 messages, over an hour of 10 a second', 'KB', trend, 10),
    ];
  } finally {
    await browser.close();
    moveTo('server', [process.pid]);
  }
}
