import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../support/poll.ts';
import { startProvider } from '../support/provider.ts';
import { signUp, signUpAll, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, visit, withoutBrowser } from './browser.ts';

const LOCKS = { ENABLE_COMMUNITY_SHARING: 'false' };

describe.skipIf(withoutBrowser)('the configuration in the administration (needs chromium)', async () => {
  if (withoutBrowser) return;
  const server = await startServer({ env: LOCKS });
  const [root, ann] = await signUpAll(server, 'Root', 'Ann');
  const provider = await startProvider('small', 'large');
  const browser = await launchBrowser();
  const { page, faults } = await openDesk(browser, server, root);
  const ask = server.as(root);
  afterAll(async () => {
    await browser.close();
    await provider.close();
    await server.close();
  });
  const setting = async (path: string) =>
    (await ask('GET /configs/explain')).body.settings.find((one: { path: string }) => one.path === path);
  const row = (path: string, on: Page = page) => on.getByRole('listitem').filter({ hasText: path });
  const save = (on: Page = page) => on.getByRole('button', { name: 'Save', exact: true }).click();

  test('a setting changes, and its source, history and rollback are shown', async () => {
    await visit(page, '/admin/configuration');
    await page.getByRole('heading', { name: 'Accounts and interface' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);

    await page.getByLabel('Search all settings').fill('watermark');
    const watermark = row('ui.watermark');
    await watermark.getByText('Default').waitFor();
    await watermark.getByRole('textbox').fill('Written by a model');
    await save();
    await watermark.getByText('Set by Root on').waitFor();
    expect(await setting('ui.watermark')).toMatchObject({ value: 'Written by a model', source: 'stored' });
    // Only what changed was sent.
    expect(await setting('ui.enable_signup')).toMatchObject({ source: 'default' });

    await watermark.getByRole('textbox').fill('Another text');
    await save();
    await page.getByText('1 change').waitFor({ state: 'hidden' });
    await watermark.getByRole('button', { name: 'History of ui.watermark' }).click();
    const dialog = page.getByRole('dialog', { name: 'History of a setting' });
    await dialog
      .getByRole('button', { name: /^What changed/ })
      .first()
      .click();
    await dialog.getByRole('cell', { name: 'Written by a model' }).waitFor();
    await dialog.getByRole('cell', { name: 'Another text' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await visit(page, '/admin/configuration/history');
    await page
      .getByRole('button', { name: /^Restore/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('cell', { name: 'Another text' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('restored').waitFor();
    expect((await setting('ui.watermark')).value).toBe('Written by a model');
  });

  test('a wrong value shows the sentence of the server at its field, and what was typed stays', async () => {
    await visit(page, '/admin/configuration');
    await page.getByLabel('Search all settings').fill('limits.password_min_length');
    const field = row('limits.password_min_length').getByRole('textbox');
    await field.fill('999');
    await save();
    await row('limits.password_min_length')
      .getByText(/at most 128|<=128|128/)
      .last()
      .waitFor();
    await page.getByRole('alert').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('link', { name: 'Connections' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByText('Cancel').click();
    expect(await field.inputValue()).toBe('999');
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('a setting that the environment sets is locked, and names its variable', async () => {
    await page.getByLabel('Search all settings').fill('ENABLE_COMMUNITY_SHARING');
    const locked = row('ui.enable_community_sharing');
    await locked.getByText('Set by ENABLE_COMMUNITY_SHARING').waitFor();
    expect(await locked.getByRole('switch').isDisabled()).toBe(true);
  });

  test('a change of another administrator meanwhile is shown before it is replaced', async () => {
    await page.getByLabel('Search all settings').fill('ui.watermark');
    const field = row('ui.watermark').getByRole('textbox');
    await field.fill('Mine');
    await ask('POST /configs/import', { config: { 'ui.watermark': 'Theirs' } });
    await save();
    await page.getByText('Another administrator changed one of these settings').waitFor();
    await row('ui.watermark').getByText('Changed meanwhile to').waitFor();
    expect((await setting('ui.watermark')).value).toBe('Theirs');
    await save();
    await until('the second save', async () => (await setting('ui.watermark')).value === 'Mine');
  });

  test('the configuration goes to a file and comes back, with what it changes shown first', async () => {
    await page.getByRole('button', { name: 'Export and import' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export to a file' }).click();
    const file = await (await downloading).path();
    const exported = JSON.parse(await readFile(file, 'utf8'));
    exported.ui.watermark = 'From a file';
    await page.getByRole('button', { name: 'Export and import' }).click();
    await page.getByRole('menuitem', { name: 'Import from a file' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import from a file' });
    await dialog.getByRole('button', { name: 'Choose a file' }).waitFor();
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'new.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(exported)),
    });
    await dialog.getByText('new.json would change 1 value.').waitFor();
    await dialog.getByRole('cell', { name: 'From a file' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect((await setting('ui.watermark')).value).toBe('Mine');
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('new.json is in force. 1 value changed.').waitFor();
    expect((await setting('ui.watermark')).value).toBe('From a file');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  test('a connection is tested before it is saved: the failing step says why', async () => {
    await visit(page, '/admin/connections');
    await page.getByText('No connection yet').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add a connection' }).click();
    await page.getByRole('menuitem', { name: 'Hosted API' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect a hosted API' });
    await dialog.getByLabel('Name', { exact: false }).first().fill('Lab');
    await dialog.getByLabel('Address').fill(provider.url);
    await dialog.getByLabel('Key', { exact: true }).fill('sk-lab');
    provider.scriptList((_request, wire) => wire.json(401, { error: { message: 'no' } }));
    await dialog.getByRole('button', { name: 'Test the connection' }).click();
    await dialog.getByText('refuses the key').waitFor();
    expect(await dialog.getByRole('img', { name: 'Not tried' }).count()).toBe(2);
    expect(await violationsOn(page)).toEqual([]);

    provider.scriptList(null);
    await dialog.getByRole('button', { name: 'Test the connection' }).click();
    await dialog.getByText('The connection works.').waitFor();
    expect(provider.requests.at(-1)?.headers.authorization).toBe('Bearer sk-lab');
    expect((await ask('GET /providers')).body).toEqual([]);
    await save();
    await page.getByText('2 models').waitFor();
    expect(await violationsOn(page)).toEqual([]);
  });

  test('a stored key is never shown, and stays when the connection is edited', async () => {
    await page.getByRole('button', { name: 'Edit Lab' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit Lab' });
    expect(await dialog.getByLabel('Key', { exact: true }).inputValue()).toBe('********');
    await dialog.getByRole('button', { name: 'More settings' }).click();
    await dialog.getByLabel('Prefix').fill('lab');
    expect(await violationsOn(page)).toEqual([]);
    // Another administrator adds a connection while the form is open.
    const before = (await ask('GET /configs/export')).body.hosted_model_api;
    await ask('POST /configs/import', {
      config: {
        'hosted_model_api.api_base_urls': [...before.api_base_urls, 'http://127.0.0.1:9'],
        'hosted_model_api.api_keys': [...before.api_keys, ''],
        'hosted_model_api.api_configs': { ...before.api_configs, 1: { name: 'Theirs', enable: false } },
      },
    });
    await save();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Remove Theirs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove Theirs' }).waitFor({ state: 'detached' });
    const { body } = await ask('GET /configs/export?secrets=true');
    expect(body.hosted_model_api).toMatchObject({
      api_keys: ['sk-lab'],
      api_configs: { 0: { name: 'Lab', prefix_id: 'lab' } },
    });
  });

  test('a model is shared with everyone, and switched off', async () => {
    await visit(page, '/admin/models');
    await page.getByRole('button', { name: 'Share lab.small' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share lab.small' });
    await dialog.getByRole('button', { name: 'Share with everyone' }).click();
    expect(await violationsOn(page)).toEqual([]);
    await save();
    await dialog.waitFor({ state: 'hidden' });
    await page
      .getByRole('row', { name: /lab\.small/ })
      .getByText('Everyone')
      .waitFor();
    const models = async () =>
      (await server.as(ann)('GET /models')).body.data.map(({ id }: { id: string }) => id);
    expect(await models()).toEqual(['lab.small']);
    expect(await violationsOn(page)).toEqual([]);
    // A switch is disabled until the page has read its change back.
    const offered = (checked: boolean) =>
      page.getByRole('switch', { name: 'Offer lab.small', checked, disabled: false });
    await offered(true).click({ force: true });
    await until('the model is off', async () => (await models()).length === 0);
    await offered(false).click({ force: true });
    await until('the model is on', async () => (await models()).length === 1);
  });

  test('usage is shown by model and person; a budget is set, and shows who has used how much of it', async () => {
    const callAsAnn = () =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'lab.small', messages: [{ role: 'user', content: 'Hi' }] }),
      });
    expect((await callAsAnn()).status).toBe(200);
    await visit(page, '/admin/usage');
    await page.getByRole('cell', { name: 'lab.small' }).waitFor();
    await page.getByRole('img', { name: 'Tokens by day' }).waitFor();
    await page.getByLabel('Split by').selectOption('Person');
    await page.getByRole('cell', { name: 'Ann' }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const csv = await readFile(await (await downloading).path(), 'utf8');
    expect(csv).toContain(`${ann.id},Ann,1,0,10,0,5,0`);
    await page.getByRole('button', { name: 'Add a budget' }).click();
    expect(await violationsOn(page)).toEqual([]);
    await save();
    await until('the budget', async () => (await setting('usage.limits')).value.length === 1);
    expect((await setting('usage.limits')).value).toEqual([{ scope: 'user', tokens: 100_000, per: 'day' }]);

    await page.getByText('Nothing is used of the budgets yet.').waitFor();
    expect((await callAsAnn()).status).toBe(200);
    await page.reload();
    const use = page.getByRole('region', { name: 'Use of budgets' });
    await use
      .getByRole('row', { name: /Ann Day/ })
      .getByText('Tokens: 15 of 100,000')
      .waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const own = await openDesk(browser, server, ann);
    await own.page.goto('/account/usage');
    await own.page.getByText('15 of 100,000').waitFor();
    await own.context.close();
  });

  test('the waiting page has the words of the installation', async () => {
    await visit(page, '/admin/look');
    await row('ui.pending_user_overlay_title').getByRole('textbox').fill('Almost there');
    await save();
    await row('ui.pending_user_overlay_title')
      .getByText(/^Set by/)
      .waitFor();
    const desk = await openDesk(browser, server, await signUp(server, 'Newcomer'));
    await desk.page.goto('/');
    await desk.page.getByText('Almost there').waitFor();
    await desk.context.close();
  });

  test('the name of the installation and a notice reach the people, who dismiss it', async () => {
    await visit(page, '/admin/look');
    await row('webui.name').getByRole('textbox').fill('Acme Chat');
    await page.getByRole('button', { name: 'Add a notice' }).click();
    await page.getByLabel('Text', { exact: true }).fill('The server restarts at noon.');
    expect(await violationsOn(page)).toEqual([]);
    await save();
    await page.getByRole('navigation', { name: 'Main navigation' }).getByText('Acme Chat').waitFor();
    const desk = await openDesk(browser, server, ann);
    await desk.page.goto('/');
    const notice = desk.page.getByText('The server restarts at noon.');
    await notice.waitFor();
    expect(await violationsOn(desk.page)).toEqual([]);
    await desk.page.getByRole('button', { name: 'Dismiss the notice' }).click();
    await notice.waitFor({ state: 'hidden' });
    await desk.page.reload();
    await desk.page.getByRole('navigation', { name: 'Main navigation' }).getByText('Acme Chat').waitFor();
    expect(await notice.count()).toBe(0);
    expect([...faults, ...desk.faults]).toEqual([]);
    await desk.context.close();
  });
});
