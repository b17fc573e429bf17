import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { linkWeights, withoutWeights } from '../support/board.ts';
import { until } from '../support/poll.ts';
import { copyDataFolder, spawnMain } from '../support/process.ts';
import { linkEnvironment } from '../support/python.ts';
import { launchBrowser, openDesk, withoutBrowser } from './browser.ts';

const PASSWORD = 'a long pass phrase';
const MODEL = 'smollm2-135m';
/** The model on board answers on one busy core. */
const ANSWER_MS = 120_000;

async function signUp(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await page.getByLabel('E-mail').fill(`${name.toLowerCase()}@example.com`);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Make the account' }).click();
}

async function say(page: Page, words: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill(words);
  await field.press('Enter');
}

test.skipIf(withoutBrowser || withoutWeights)(
  'a person who read nothing makes an account, talks with the model on board, gives it a tool, and invites a second person (needs chromium)',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
    await copyDataFolder(dataDir);
    await linkWeights(dataDir);
    await linkEnvironment(dataDir);
    const server = spawnMain({ DATA_DIR: dataDir, EMBEDDED_MODEL: 'auto', PYTHON: '' });
    const browser = await launchBrowser();
    try {
      // The address that the start prints.
      const url = await server.ready();
      await until('readiness', async () => (await fetch(`${url}/ready`)).status === 200, 60_000);
      const ada = await openDesk(browser, { url });
      await ada.page.goto('/');
      await ada.page.getByText('becomes its administrator').waitFor();
      await signUp(ada.page, 'Ada');

      await ada.page.getByRole('main').getByRole('button', { name: 'New channel' }).click();
      await ada.page.getByRole('dialog').getByLabel('Name').fill('general');
      await ada.page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
      await ada.page.getByRole('textbox', { name: 'Message' }).waitFor();
      await say(ada.page, `@${MODEL} Say hello.`);
      const thread = ada.page.getByText('1 reply');
      await thread.waitFor();
      await thread.click();
      await ada.page.getByRole('button', { name: /^Usage: / }).waitFor({ timeout: ANSWER_MS });

      await ada.page.getByRole('link', { name: 'Tools', exact: true }).click();
      await ada.page.getByRole('link', { name: 'New tool' }).first().click();
      await ada.page.getByLabel('Name').fill('Greeter');
      await ada.page.getByRole('button', { name: 'Create the tool' }).click();
      await ada.page.getByText('Version 1, saved').waitFor();

      await ada.page.goto('/models/new');
      await ada.page.getByLabel('Name').fill('Assistant');
      await ada.page.getByRole('combobox', { name: 'Base model' }).click();
      await ada.page.getByRole('option', { name: /SmolLM2/ }).click();
      await ada.page.getByRole('combobox', { name: 'Tools' }).click();
      await ada.page.getByRole('option', { name: 'Greeter' }).click();
      await ada.page.getByRole('button', { name: 'Make the model' }).click();
      await ada.page.getByText('Those who may use the model').waitFor();

      const grace = await openDesk(browser, { url });
      await grace.page.goto('/');
      await grace.page.getByRole('link', { name: 'Make an account' }).click();
      await signUp(grace.page, 'Grace');
      await grace.page.getByText('Your account waits for approval').waitFor();
      await ada.page.goto('/admin/people');
      await ada.page
        .getByRole('button', { name: /approve/i })
        .first()
        .click();
      await grace.page.getByText('Your session has ended').waitFor();
      await grace.page.getByLabel('E-mail').fill('grace@example.com');
      await grace.page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await grace.page.getByRole('button', { name: 'Sign in' }).click();
      await grace.page.getByText('Say hello.').waitFor();

      await ada.page.getByRole('link', { name: 'general' }).click();
      await say(ada.page, 'Welcome, Grace.');
      await grace.page.getByText('Welcome, Grace.').waitFor();
      await say(ada.page, '@assistant Greet Grace.');
      // The second person sees the reply of the model grow in the thread.
      const second = grace.page.getByText('1 reply').last();
      await second.click();
      await grace.page.getByRole('button', { name: /^Usage: / }).waitFor({ timeout: ANSWER_MS });
      expect([...ada.faults, ...grace.faults]).toEqual([]);
    } finally {
      await browser.close();
      await server.stop('SIGTERM');
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
