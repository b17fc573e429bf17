import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readFences, runFences } from '../support/fences.ts';
import { sharedEnvironment } from '../support/python.ts';
import { openWorkshop } from './workshop.ts';

const PAGE = new URL('../../docs/tools.md', import.meta.url);

const shop = await openWorkshop();
await shop.permit('sharing.public_tools', true);
await shop.permit('workspace.tools_export', true);
const folder = await mkdtemp(join(tmpdir(), 'parley-page-'));
afterAll(async () => {
  await shop.close();
  await rm(folder, { recursive: true });
});

/** JSON values, one a line, without the durations, which differ from run to run. */
const printed = (text: string) =>
  text
    .trim()
    .replace(/\}\{/g, '}\n{')
    .split('\n')
    .map((line) => JSON.parse(line, (key, value) => (key === 'duration_ms' ? undefined : value)));

test('every example of the page returns what the page shows', async () => {
  const fences = await readFences(PAGE);
  // `nft` configures the firewall of a machine; tests never run it.
  expect(new Set(fences.map(({ language }) => language))).toEqual(
    new Set(['python', 'js', 'sh', 'json', 'nft']),
  );
  const outputs = await runFences(fences, {
    folder,
    env: { URL: shop.server.url, TOKEN: shop.author.token, COLLEAGUE: shop.stranger.token },
    path: [join(await sharedEnvironment(), 'bin')],
  });
  const promised = outputs.filter(({ next }) => next?.language === 'json');
  expect(promised.length).toBeGreaterThan(5);
  for (const { printed: output, next } of promised)
    expect(printed(output), next?.text).toEqual(printed(next?.text ?? ''));
});
