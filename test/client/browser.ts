import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { rolldown } from 'rolldown';
import type { Consumer } from './consumer.ts';

/** Signs up, posts, and returns what it received. */
const PAGE = `
import { createClient, isParleyError } from '@parley/client';
window.run = async (url) => {
  const client = createClient({ url });
  const refused = await client.api.channels.list.query().catch((error) => isParleyError(error) && error.status);
  const me = await client.api.auths.signUp.mutate(
    { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' });
  client.setToken(me.token);
  const channel = await client.api.channels.create.mutate({ name: 'general' });
  let seen;
  const event = new Promise((resolve) => { seen = resolve; });
  await client.events({ onEvent: seen }).ready;
  await client.api.messages.post.mutate({ id: channel.id, content: 'from a browser' });
  const { event_id, data } = await event;
  await client.close();
  return { refused, event_id, content: data.data.content };
};`;

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of an installed browser; undefined without one. */
export const browserPath = BROWSERS.find((path) => existsSync(path));

/** The script of the page with the installed package in it. Fails on an import that browsers do not have. */
export async function bundleForBrowsers({ folder }: Consumer): Promise<string> {
  const entry = join(folder, 'page.js');
  const build = await rolldown({
    input: entry,
    platform: 'browser',
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? PAGE : null),
      },
    ],
    onLog: (_level, log) => {
      throw new Error(log.message);
    },
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  return output[0].code;
}

export interface Page {
  /** The origin of the page. */
  origin: string;
  /** Opens the page in a browser with the service at `url`, and resolves with its report. */
  open(path: string, url: string): Promise<unknown>;
  close(): Promise<void>;
}

/** A web server with a single page for the bundle. */
export async function servePage({ folder }: Consumer, bundle: string): Promise<Page> {
  const report = Promise.withResolvers<unknown>();
  let serviceUrl = '';
  let child: ChildProcess | undefined;
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') report.resolve(await json(request));
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><script>${bundle}</script><script>
      const report = (body) => fetch('/report', { method: 'POST', body: JSON.stringify(body) });
      run(${JSON.stringify(serviceUrl)}).then(report, (error) => report({ failed: String(error) }));
    </script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    origin,
    open(path, url) {
      serviceUrl = url;
      child = startBrowser(path, join(folder, 'profile'), origin);
      child.once('error', report.reject);
      child.once('exit', (code) => report.reject(new Error(`The browser ended with ${code}.`)));
      return report.promise;
    },
    async close() {
      if (child?.pid && child.exitCode === null && child.signalCode === null) {
        child.kill();
        await once(child, 'exit');
      }
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function startBrowser(path: string, profile: string, url: string): ChildProcess {
  const flags = ['--headless=new', '--disable-gpu', '--no-first-run', `--user-data-dir=${profile}`];
  // The sandbox of the browser does not work for root, and the page is our own.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return spawn(path, [...flags, ...sandbox, '--remote-debugging-port=0', url], { stdio: 'ignore' });
}
