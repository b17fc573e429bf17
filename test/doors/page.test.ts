import { afterAll, expect, test } from 'vitest';
import { signUp, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());

const page = async (headers: Record<string, string> = {}) => {
  const answer = await fetch(server.url, { headers });
  return { answer, text: await answer.text() };
};

test('the root address explains how to create the first account, until one exists', async () => {
  const before = await page();
  expect(before.answer.status).toBe(200);
  expect(before.answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(before.answer.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-/,
  );
  expect(before.text).toContain(`curl ${server.url}/api/v1/auths/signup`);

  await signUp(server, 'Ada');
  const after = await page();
  expect(after.text).toContain('This server has accounts already.');
  expect(after.text).not.toContain('curl');
});

test('the page links to the API documentation only when the server offers it', async () => {
  expect((await page()).text).toContain('ENV=dev');
  const developers = await startServer({ env: { ENV: 'dev' } });
  try {
    expect(await (await fetch(developers.url)).text()).toContain('<a href="/docs">');
  } finally {
    await developers.close();
  }
});
