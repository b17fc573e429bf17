import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { type Scene, setScene } from './screenshots.scene.ts';

/** `npm run screenshots`: makes the pictures of the documentation from a real server with the model on board and real tools. */

const root = join(import.meta.dirname, '..');
const pictures = join(root, 'docs', 'pictures');
/** Kept between runs for the Python environment and the weights of the model; the database is new each time. */
const dataDir = join(tmpdir(), 'parley-screenshots');
const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

interface Shot {
  name: string;
  path(scene: Scene): string;
  /** Text that is on the page when it is complete. */
  shows: string | RegExp;
  phone?: true;
  dark?: true;
  signedOut?: true;
}

const SHOTS: Shot[] = [
  { name: 'channel', path: ({ channelId }) => `/channels/${channelId}`, shows: 'Welcome aboard' },
  {
    name: 'channel-dark',
    path: ({ channelId }) => `/channels/${channelId}`,
    shows: 'Welcome aboard',
    dark: true,
  },
  {
    name: 'channel-phone',
    path: ({ channelId }) => `/channels/${channelId}`,
    shows: 'Welcome aboard',
    phone: true,
  },
  {
    name: 'thread',
    path: ({ channelId, threadId }) => `/channels/${channelId}?thread=${threadId}`,
    shows: 'Be prepared',
  },
  { name: 'sign-in', path: () => '/sign-in', shows: 'Make an account', signedOut: true },
  { name: 'tool', path: ({ toolId }) => `/tools/${toolId}`, shows: 'class Tools' },
  {
    name: 'tool-phone-dark',
    path: ({ toolId }) => `/tools/${toolId}`,
    shows: 'Dice',
    phone: true,
    dark: true,
  },
  { name: 'models', path: () => '/models', shows: 'SmolLM2' },
  { name: 'admin-people', path: () => '/admin/people', shows: 'Grace' },
  { name: 'admin-configuration', path: () => '/admin/configuration', shows: /configuration/i },
  { name: 'admin-state', path: () => '/admin/state', shows: /database/i },
  { name: 'account', path: () => '/account/profile', shows: 'Status' },
];

if (!BROWSER) throw new Error('There is no browser: install the Debian package chromium.');
await rm(join(dataDir, 'postgres'), { recursive: true, force: true });
await rm(join(dataDir, 'secret.key'), { force: true });
await mkdir(dataDir, { recursive: true });
await mkdir(pictures, { recursive: true });
const url = `http://127.0.0.1:${await freePort()}`;
const server = startServer(url);
try {
  await untilReady(url);
  const scene = await setScene(url);
  const browser = await chromium.launch({
    executablePath: BROWSER,
    chromiumSandbox: process.getuid?.() !== 0,
  });
  for (const shot of SHOTS) await take(browser, url, scene, shot);
  await browser.close();
} finally {
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
}

async function take(browser: Browser, baseURL: string, scene: Scene, shot: Shot): Promise<void> {
  const context = await browser.newContext({
    baseURL,
    locale: 'en-GB',
    timezoneId: 'UTC',
    viewport: shot.phone ? PHONE : DESK,
    isMobile: shot.phone === true,
    hasTouch: shot.phone === true,
    colorScheme: shot.dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  if (!shot.signedOut) {
    await context.addCookies([{ name: 'token', value: scene.token, url: baseURL, httpOnly: true }]);
  }
  const page = await context.newPage();
  await page.goto(shot.path(scene));
  await page.getByText(shot.shows).first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(pictures, `${shot.name}.png`) });
  await context.close();
  process.stdout.write(`docs/pictures/${shot.name}.png\n`);
}

function startServer(address: string): ChildProcess {
  return spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    // Nothing of the shell's own settings of a server.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: new URL(address).port, DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** The first run makes a Python environment and fetches the model, which takes a minute or two. */
async function untilReady(address: string): Promise<void> {
  const deadline = Date.now() + 600_000;
  while (Date.now() < deadline) {
    const answer = await fetch(`${address}/ready`).catch(() => null);
    if (answer?.ok) return;
    await delay(500);
  }
  throw new Error('The server was not ready within ten minutes.');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}
