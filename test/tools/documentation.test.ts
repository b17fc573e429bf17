import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { sharedEnvironment } from '../support/python.ts';
import { openWorkshop } from './workshop.ts';

const PAGE = new URL('../../docs/tools.md', import.meta.url);
const CLIENT = new URL('../../client/src/index.ts', import.meta.url);

/**
 * A fence of the page: `python` or `js` with the name of its file, `sh` to run, `json` that the one before prints; `nft` is for the firewall
 * of a machine, which no test changes.
 */
interface Fence {
  language: string;
  file: string;
  text: string;
}

const shop = await openWorkshop();
await shop.permit('sharing.public_tools', true);
await shop.permit('workspace.tools_export', true);
const folder = await mkdtemp(join(tmpdir(), 'parley-page-'));
afterAll(async () => {
  await shop.close();
  await rm(folder, { recursive: true });
});

/** JSON values, one a line, with the times that differ from run to run left out. */
const printed = (text: string) =>
  text
    .trim()
    .replace(/\}\{/g, '}\n{')
    .split('\n')
    .map((line) => JSON.parse(line, (key, value) => (key === 'duration_ms' ? undefined : value)));

test('every example of the page does what the page says', async () => {
  const page = await readFile(PAGE, 'utf8');
  const fences: Fence[] = [...page.matchAll(/^```(\w+) ?(\S*)\n(.*?)^```$/gms)].map(
    ([, language = '', file = '', text = '']) => ({ language, file, text }),
  );
  expect(new Set(fences.map(({ language }) => language))).toEqual(
    new Set(['python', 'js', 'sh', 'json', 'nft']),
  );
  const script: string[] = [];
  const promised: { out: string; text: string }[] = [];
  for (const [number, { language, file, text }] of fences.entries()) {
    const out = `out.${number}`;
    // A reader has installed the client.
    if (file) await writeFile(join(folder, file), text.replace('@parley/client', CLIENT.href));
    // One shell runs them all, as a reader's would: what one defines, the next ones use.
    else if (language === 'sh') script.push(`{\n${text}\n} > ${out}`);
    else if (language === 'json') promised.push({ out: `out.${number - 1}`, text });
  }
  expect(promised.length).toBeGreaterThan(5);
  const { PATH } = process.env;
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script.join('\n')], {
    cwd: folder,
    env: {
      PATH: [join(await sharedEnvironment(), 'bin'), dirname(process.execPath), PATH].join(':'),
      URL: shop.server.url,
      TOKEN: shop.author.token,
      COLLEAGUE: shop.stranger.token,
    },
  });
  for (const { out, text } of promised) {
    expect(printed(await readFile(join(folder, out), 'utf8')), text).toEqual(printed(text));
  }
});
