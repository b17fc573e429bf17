import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, firefox, type Page } from 'playwright-core';
import type { Person, TestServer } from '../support/server.ts';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of an installed browser; undefined without one. */
export const browserPath = BROWSERS.find((path) => existsSync(path));

/** Journeys are skipped without a browser, but never in CI. */
export const withoutBrowser = !browserPath && !process.env.CI;

/** A step that takes longer has failed. */
const STEP_MS = 20_000;

/** Chromium without windows and notifications: a new context takes half the processor time. Used where it is installed. */
const SHELL = '/usr/bin/chromium-headless-shell';

export function launchBrowser({ notifies = false } = {}): Promise<Browser> {
  if (!browserPath) throw new Error('There is no browser: install the Debian package chromium.');
  // The sandbox of the browser does not work for root, and the page is our own.
  return chromium.launch({
    executablePath: !notifies && existsSync(SHELL) ? SHELL : browserPath,
    chromiumSandbox: process.getuid?.() !== 0,
    // Without it, a process imitates a graphics card: a quarter of the processor time of a journey.
    args: ['--disable-gpu'],
  });
}

const FIREFOXES = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];
const firefoxPath = FIREFOXES.find((path) => existsSync(path));

/** The journey in Firefox is skipped without it, but never in CI. */
export const withoutFirefox = !firefoxPath && !process.env.CI;

/** Playwright drives the Firefox of Debian by WebDriver BiDi, which it does for channels with this beginning. */
export async function launchFirefox(): Promise<Browser> {
  if (!firefoxPath) throw new Error('There is no Firefox: install the Debian package firefox-esr.');
  const browser = await firefox.launch({
    executablePath: firefoxPath,
    channel: 'moz-firefox',
    firefoxUserPrefs: { 'ui.prefersReducedMotion': 1 },
  });
  skipMediaFeatures(browser);
  return browser;
}

/** Playwright 1.65 sets the colour scheme of each new context by a command that Firefox 153 does not have. */
function skipMediaFeatures(browser: Browser): void {
  type Send = (method: string, params?: object) => Promise<unknown>;
  const { _connection } = browser as unknown as {
    _connection: { toImpl(of: Browser): { _browserSession: { send: Send } } };
  };
  const session = _connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = async (method, params) =>
    method === 'emulation.setMediaFeaturesOverride' ? {} : send(method, params);
}

export interface Desk {
  context: BrowserContext;
  page: Page;
  /** What went wrong in the browser: exceptions, refusals of the policy, failed requests for files of the page. */
  faults: string[];
}

/** A browser of one person, with the session of the person where one is given. */
export async function openDesk(
  browser: Browser,
  server: Pick<TestServer, 'url'>,
  person?: Pick<Person, 'token'>,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Desk> {
  const context = await browser.newContext({
    baseURL: server.url,
    locale: 'en-GB',
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(STEP_MS);
  if (person) {
    await context.addCookies([{ name: 'token', value: person.token, url: server.url, httpOnly: true }]);
  }
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Refused to/.test(message.text())) {
      faults.push(message.text());
    }
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (/^http|^ws/.test(protocol) && origin.replace(/^ws/, 'http') !== server.url) {
      faults.push(`request to another host: ${request.url()}`);
    }
  });
  return { context, page, faults };
}

/**
 * Opens a view as a link of the page does. Loading the page anew compiles its scripts again, which takes most of the
 * processor time of a short journey. Returns when the view has replaced the one before it.
 */
export async function visit(page: Page, path: string): Promise<void> {
  if (page.url() === 'about:blank') {
    await page.goto(path);
    return;
  }
  await page.evaluate(`__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} })`);
  await page.waitForFunction(`(({ status, location, resolvedLocation }) =>
    status === 'idle' && resolvedLocation?.href === location.href)(__TSR_ROUTER__.state)`);
}

/** Opens one browser for each person, which the tests of a file use one after the other. */
export function openDesks(browser: Browser, server: Pick<TestServer, 'url'>) {
  const desks = new Map<string, Promise<Desk>>();
  return (person: Person): Promise<Desk> => {
    const found = desks.get(person.id) ?? openDesk(browser, server, person);
    desks.set(person.id, found);
    return found;
  };
}
