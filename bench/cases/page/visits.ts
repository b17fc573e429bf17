import type { Browser, CDPSession } from 'playwright-core';
import type { Person, TestServer } from '../../../test/support/server.ts';
import { median } from '../../support/rounds.ts';

const SLOWED = 4;
const VISITS = 7;

interface Visit {
  server: Pick<TestServer, 'url'>;
  person: Pick<Person, 'token'>;
  path: string;
  /** An expression of the page: whether the view is usable. */
  isUsable: string;
}

/**
 * The median time from the address to a usable view that is painted, each in a new profile of a browser that runs already, with
 * the processor slowed. Speaks to the browser directly: Playwright follows scripts and requests, for which the browser
 * parses the scripts of the page a second time.
 */
export async function coldVisit(browser: Browser, visit: Visit): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const taken: number[] = [];
  for (let n = 0; n <= VISITS; n++) taken.push(await open(session, visit));
  // The first one also starts parts of the browser.
  return median(taken.slice(1));
}

async function open(session: CDPSession, { server, person, path, isUsable }: Visit): Promise<number> {
  const { browserContextId } = await session.send('Target.createBrowserContext');
  const cookies = [{ name: 'token', value: person.token, url: server.url, httpOnly: true }];
  await session.send('Storage.setCookies', { browserContextId, cookies });
  const size = { width: 1280, height: 800 };
  const { targetId } = await session.send('Target.createTarget', {
    url: 'about:blank',
    browserContextId,
    ...size,
  });
  const { send, close } = await attach(session, targetId);
  await send('Emulation.setCPUThrottlingRate', { rate: SLOWED });
  const began = performance.now();
  await send('Page.navigate', { url: server.url + path });
  const watch = () => send('Runtime.evaluate', { awaitPromise: true, expression: whenPainted(isUsable) });
  // The empty page may still be there.
  await watch().catch(watch);
  const ms = performance.now() - began;
  close();
  await session.send('Target.disposeBrowserContext', { browserContextId });
  return ms;
}

/** Sends commands to one page; nothing else is turned on in it. */
async function attach(session: CDPSession, targetId: string) {
  const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false });
  const waiting = new Map<number, (failure?: Error) => void>();
  const receive = (event: { sessionId: string; message: string }) => {
    if (event.sessionId !== sessionId) return;
    const { id, error, result } = JSON.parse(event.message);
    const failure = error?.message ?? result?.exceptionDetails?.text;
    waiting.get(id)?.(failure === undefined ? undefined : new Error(failure));
  };
  session.on('Target.receivedMessageFromTarget', receive);
  let last = 0;
  const send = (method: string, params: object) =>
    new Promise<void>((resolve, reject) => {
      const id = ++last;
      waiting.set(id, (failure) => (failure ? reject(failure) : resolve()));
      const message = JSON.stringify({ id, method, params });
      session.send('Target.sendMessageToTarget', { sessionId, message }).catch(reject);
    });
  return { send, close: () => session.off('Target.receivedMessageFromTarget', receive) };
}

/** Runs in the page: ends after the frame that shows the view. */
const whenPainted = (isUsable: string) => `new Promise((resolve) => {
  const look = () => {
    if (!(${isUsable})) return requestAnimationFrame(look);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve();
    port2.postMessage(0);
  };
  requestAnimationFrame(look);
})`;

/** A message and the composer are shown. */
export const CHANNEL_IS_USABLE = `document.querySelector('textarea') !== null &&
  [...document.querySelectorAll('article')].some((row) => row.checkVisibility({ visibilityProperty: true }))`;

/** A browser shows plain text in an element of its own. */
export const TEXT_IS_USABLE = `document.querySelector('pre') !== null`;
