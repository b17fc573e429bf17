import { afterAll, expect, test } from 'vitest';
import { startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });

/** The address of the script that the page loads first. */
async function firstScript(): Promise<string> {
  const [, path = ''] = /<script[^>]* src="([^"]+)"/.exec(await (await get('/')).text()) ?? [];
  return path;
}

test('the page is served at the root and at the address of each view, and is never stored', async () => {
  for (const path of ['/', '/sign-in', '/channels/01a1fc8d-48a9-7710-bc11-db0d8c6bf392', '/admin/people']) {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).toContain('<div id="root">');
  }
});

test('the policy of the page allows scripts of this server alone, and no frames', async () => {
  const policy = (await get('/')).headers.get('content-security-policy') ?? '';
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("connect-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(await (await get('/')).text()).not.toMatch(/<script(?![^>]* src=)/);
});

test('files of the page may be stored for a year, and are sent compressed', async () => {
  const path = await firstScript();
  const answer = await get(path, { 'accept-encoding': 'br' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(answer.headers.get('content-encoding')).toBe('br');
  expect(answer.headers.get('content-type')).toMatch(/^(?:text|application)\/javascript/);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

test.each([
  '/api/v1/nothing',
  '/api/nothing',
  '/trpc/nothing',
  '/assets/nothing.js',
  '/assets/../../package.json',
  '/nothing',
])('an unknown path answers 404 as JSON, also to a browser: %s', async (path) => {
  const answer = await get(path, { accept: 'text/html' });
  expect(answer.status).toBe(404);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
});
