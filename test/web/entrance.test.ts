import { afterAll, describe, expect, test } from 'vitest';
import { startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, withoutBrowser } from './browser.ts';

describe.skipIf(withoutBrowser)('the entrance (skipped without the Debian package chromium)', async () => {
  const server = await startServer();
  const browser = await launchBrowser();
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  test('the first person is told that the account becomes the administrator, and comes in', async () => {
    const { page, faults, context } = await openDesk(browser, server);
    await page.goto('/');
    await page.getByText('becomes its administrator').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill('a long pass phrase');
    await page.getByRole('button', { name: 'Make the account' }).click();
    await page.getByText('There is no channel yet').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });
});
