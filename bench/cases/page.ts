import { launchBrowser, openDesk } from '../../test/web/browser.ts';
import { moveTo } from '../support/child.ts';
import { plainResult, type Result } from '../support/report.ts';
import { createChannel, seedMessages, type Workspace } from '../support/workspace.ts';
import { keyToPaint, load, memoryGrowth, worstFrame } from './page/measures.ts';

const STORED = 100_000;

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
    const { kilobytes, ms } = await load(await open(), path);
    const desk = await open();
    await desk.page.goto(path);
    const keyMs = await keyToPaint(desk.page, quick ? 3 : 15);
    const frameMs = await worstFrame(desk.page, post, quick ? 100 : 1_000);
    const growth = await memoryGrowth(desk.page, post, quick ? 300 : 6_000);
    return [
      plainResult('page: JavaScript before the first channel is usable, compressed', 'KB', kilobytes, 220),
      plainResult('page: cold load to a usable channel, CPU slowed 4 ×', 'ms', ms, 2_500),
      plainResult('page: key press to painted own message, median, CPU slowed 4 ×', 'ms', keyMs, 100),
      plainResult('page: worst frame at 50 messages a second', 'ms', frameMs, 50),
      plainResult('page: growth of memory in 1,000 messages', 'KB', growth, 50),
    ];
  } finally {
    await browser.close();
    moveTo('server', [process.pid]);
  }
}
