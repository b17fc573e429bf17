import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { egressToHere, startTarget } from '../egress/targets.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, openDesks, visit, withoutBrowser } from './browser.ts';

const PASSWORD = 'a long pass phrase';

describe.skipIf(withoutBrowser)(
  'people and rights (skipped without the Debian package chromium)',
  async () => {
    const egress = egressToHere();
    const target = await startTarget((_request, response) => response.writeHead(answer).end());
    let answer = 404;
    const server = await startServer({ egress });
    const [root, ann] = await signUpAll(server, 'Root', 'Ann');
    const browser = await launchBrowser();
    afterAll(async () => {
      await browser.close();
      await server.close();
      await egress.close();
      await target.close();
    });

    const deskOf = openDesks(browser, server);

    /** Opens a view of the administration by the list of its sections. */
    async function open(page: Page, section: string) {
      const sections = page.getByRole('navigation', { name: 'Administration' });
      await sections.getByRole('link', { name: section, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: section }).waitFor();
    }

    test('a second person signs up, waits, is approved, and comes in', async () => {
      const second = await openDesk(browser, server);
      await second.page.goto('/sign-up');
      await second.page.getByRole('textbox', { name: 'Name', exact: true }).fill('Grace');
      await second.page.getByLabel('E-mail').fill('grace@example.com');
      await second.page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await second.page.getByRole('button', { name: 'Make the account' }).click();
      await second.page.getByText('Your account waits for approval').waitFor();

      const { page, faults } = await deskOf(root);
      await visit(page, '/admin');
      await page.getByRole('heading', { name: '1 account waits for approval' }).waitFor();
      await page.getByRole('link', { name: 'Ann' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('button', { name: 'Approve Grace' }).click();
      await page
        .getByRole('heading', { name: '1 account waits for approval' })
        .waitFor({ state: 'detached' });

      // The approval ends the session, as each change of a role does.
      await second.page.getByText('Your session has ended').waitFor();
      await second.page.getByLabel('E-mail').fill('grace@example.com');
      await second.page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await second.page.getByRole('button', { name: 'Sign in' }).click();
      await second.page.getByRole('navigation', { name: 'Main navigation' }).waitFor();
      expect([...faults, ...second.faults]).toEqual([]);
      await second.context.close();
    });

    test('a person who waits is refused after a question, and the account is gone', async () => {
      const account = { name: 'Eve', email: 'eve@example.com', password: PASSWORD };
      await server.call('POST /auths/signup', { body: account });
      const { page, faults } = await deskOf(root);
      // Loads the list anew.
      await page.goto('/admin/people');
      await page.getByRole('button', { name: 'Refuse Eve' }).click();
      const question = page.getByRole('dialog', { name: 'Refuse Eve' });
      await question.getByText('The address eve@example.com can sign up again.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await question.getByRole('button', { name: 'Refuse' }).click();
      await page.getByRole('button', { name: 'Refuse Eve' }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Eve' }).waitFor({ state: 'detached' });
      expect((await server.call('POST /auths/signin', { body: account })).status).toBe(400);
      expect(faults).toEqual([]);
    });

    test('the list of people is sorted and filtered, and a reload keeps both', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/admin/people');
      const table = page.getByRole('table', { name: 'People' });
      const names = () => table.getByRole('link').allInnerTexts();
      await expect.poll(names).toEqual(['Ann', 'Grace', 'Root']);
      await table.getByRole('button', { name: 'Name' }).click();
      await expect.poll(names).toEqual(['Root', 'Grace', 'Ann']);
      await page
        .getByRole('columnheader', { name: 'Name' })
        .and(page.locator('[aria-sort=descending]'))
        .waitFor();
      await page.getByRole('combobox', { name: 'Role' }).selectOption('Administrator');
      await expect.poll(names).toEqual(['Root']);
      await page.getByRole('combobox', { name: 'Role' }).selectOption('Member');
      await expect.poll(names).toEqual(['Grace', 'Ann']);
      await page.getByText('2 accounts', { exact: true }).waitFor();
      await page.reload();
      await expect.poll(names).toEqual(['Grace', 'Ann']);
      expect(await violationsOn(page)).toEqual([]);
      expect(faults).toEqual([]);
    });

    test('people without the role find no administration', async () => {
      const { page } = await deskOf(ann);
      await visit(page, '/admin/people');
      await page.getByText('This page does not exist').waitFor();
      expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    });

    test('an account is created, found, changed, and deleted', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/admin/people');
      await page.getByRole('button', { name: 'Create an account' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('Alan');
      await form.getByLabel('E-mail').fill('ann@example.com');
      await form.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await form.getByRole('button', { name: 'Create an account' }).click();
      // A taken address keeps what was typed.
      await form.getByRole('alert').waitFor();
      expect(await form.getByLabel('Name').inputValue()).toBe('Alan');
      await form.getByLabel('E-mail').fill('alan@example.com');
      await form.getByRole('button', { name: 'Create an account' }).click();
      await form.waitFor({ state: 'detached' });

      await page.getByRole('searchbox', { name: 'Search people' }).fill('alan@');
      await page.getByText('1 account', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Alan' }).click();
      await page.getByRole('heading', { level: 1, name: 'Alan' }).waitFor();
      await page.getByText('The person is not signed in.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByLabel('Name').fill('Alan T.');
      await page.getByRole('combobox', { name: 'Role' }).selectOption('Administrator');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: 'Alan T.' }).waitFor();

      await page.getByRole('button', { name: 'Delete the account' }).click();
      const question = page.getByRole('dialog');
      await question.getByText('Messages stay, without the name of the author.').waitFor();
      const confirm = question.getByRole('button', { name: 'Delete the account' });
      expect(await confirm.isDisabled()).toBe(true);
      expect(await violationsOn(page)).toEqual([]);
      await question.getByRole('textbox').fill('alan@example.com');
      await confirm.click();
      await page.getByRole('heading', { level: 1, name: 'People' }).waitFor();
      await page.getByRole('link', { name: 'Alan' }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Ann' }).waitFor();
      expect(faults).toEqual([]);
    });

    test('the sessions of a person are ended, and the browser of the person is led to the sign-in', async () => {
      const hers = await deskOf(ann);
      await visit(hers.page, '/account/profile');
      await hers.page.getByRole('heading', { level: 1 }).waitFor();
      const { page, faults } = await deskOf(root);
      await visit(page, `/admin/people/${ann.id}`);
      await page.getByRole('table', { name: 'Sessions' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('button', { name: 'End all sessions' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'End all sessions' }).click();
      await page.getByText('The person is not signed in.').waitFor();
      await hers.page.getByRole('button', { name: 'Sign in' }).waitFor();
      expect([...faults, ...hers.faults]).toEqual([]);
    });

    test('a group gives a permission, and the explanation names the group', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/admin/groups');
      await page.getByText('There is no group yet').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('button', { name: 'Create a group' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('Toolmakers');
      await form.getByRole('button', { name: 'Create a group' }).click();
      await page.getByRole('heading', { level: 1, name: 'Toolmakers' }).waitFor();
      await page.getByLabel('Add a person').fill('ann');
      await page.getByRole('option', { name: /^Ann/ }).click();
      await page.getByRole('heading', { name: '1 member' }).waitFor();
      const permission = page.getByRole('switch', { name: 'Create tools' });
      // The switch follows the answer of the server.
      await permission.click();
      await expect.poll(() => permission.isChecked()).toBe(true);
      await page.getByText('What membership opens').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Export' }).click();
      const file = await downloading;
      expect(file.suggestedFilename()).toBe('Toolmakers.json');
      expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({
        name: 'Toolmakers',
        user_ids: [ann.id],
      });

      // A save replaces only what the person changed in the form.
      const api = server.as(root);
      const id = page.url().split('/').at(-1);
      await api(`POST /groups/id/${id}/update`, { description: 'Of another administrator' });
      await page.getByLabel('Name').fill('Makers');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: 'Makers' }).waitFor();
      await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Of another administrator');

      const member = page.getByRole('table', { name: 'Members' }).getByRole('link', { name: 'Ann' });
      await member.click();
      await page.getByRole('heading', { level: 1, name: 'Ann' }).waitFor();
      await api(`POST /users/${ann.id}/update`, { email: 'ann@example.org' });
      await page.getByRole('button', { name: 'Remove from Makers' }).click();
      await page.getByText('In no group').waitFor();
      await page.getByLabel('Name').fill('Ann');
      await page.getByRole('combobox', { name: 'Add to a group' }).click();
      await page.getByRole('option', { name: 'Makers' }).click();
      await page.getByRole('button', { name: 'Remove from Makers' }).waitFor();
      await page.getByLabel('Name').fill('Anna');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: 'Anna' }).waitFor();
      expect((await api(`GET /users/${ann.id}`)).body.email).toBe('ann@example.org');
      await api(`POST /users/${ann.id}/update`, { name: 'Ann', email: 'ann@example.com' });
      await page.reload();

      await page.getByRole('link', { name: 'Why may this person do that?' }).click();
      await page.getByLabel('Permission', { exact: true }).first().click();
      await page.getByRole('option', { name: 'Create tools' }).click();
      await page.getByText('Yes. Ann has the permission “Create tools”.').waitFor();
      await page.getByText('A group of the account allows it.').waitFor();
      await page.getByRole('link', { name: 'Makers' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(faults).toEqual([]);
    });

    test('a group is put below another one, but not below itself or its own groups', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/admin/groups');
      await page.getByRole('button', { name: 'Create a group' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('Apprentices');
      await form.getByRole('combobox', { name: 'Parent group' }).click();
      await page.getByRole('option', { name: 'Makers' }).click();
      await form.getByRole('button', { name: 'Create a group' }).click();
      await page.getByRole('heading', { level: 1, name: 'Apprentices' }).waitFor();
      const parent = page.getByRole('combobox', { name: 'Parent group' });
      await expect.poll(() => parent.inputValue()).toBe('Makers');
      // The parent gives "Create tools".
      const given = page.getByRole('group', { name: 'Making tools and models' }).getByText('already given');
      await given.waitFor();
      expect(await violationsOn(page)).toEqual([]);

      await visit(page, '/admin/groups');
      const row = page.getByRole('row').filter({ hasText: 'Apprentices' });
      await row.getByRole('link', { name: 'Makers' }).click();
      await page.getByRole('heading', { level: 1, name: 'Makers' }).waitFor();
      await parent.click();
      await expect
        .poll(() => page.getByRole('listbox').getByRole('option').allInnerTexts())
        .toEqual(['None']);
      await page.keyboard.press('Escape');

      await visit(page, '/admin/groups');
      await row.getByRole('link', { name: 'Apprentices' }).click();
      await page.getByRole('heading', { level: 1, name: 'Apprentices' }).waitFor();
      await parent.click();
      await page.getByRole('option', { name: 'None' }).click();
      await page.getByRole('button', { name: 'Save' }).click();
      await given.waitFor({ state: 'detached' });
      const { body } = await server.as(root)('GET /groups');
      expect(body.map(({ parent_group_id }: { parent_group_id: unknown }) => parent_group_id)).toEqual([
        null,
        null,
      ]);
      expect(faults).toEqual([]);
    });

    test('the explanation of a channel names the missing right', async () => {
      await server.as(root)('POST /channels/create', { name: 'secret' });
      const { page } = await deskOf(root);
      await visit(page, `/admin/permissions?view=explain&user=${ann.id}`);
      await page.getByLabel('About').selectOption('A channel');
      await page.getByLabel('Channel', { exact: true }).first().click();
      await page.getByRole('option', { name: 'secret' }).click();
      await page.getByText('No. Ann may not read the channel “secret”.').waitFor();
      await page.getByText('No role, group or grant of the account allows it.').waitFor();
    });

    test('a permission of all accounts is a switch that acts at once', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/admin/permissions');
      const upload = page.getByRole('switch', { name: 'Upload files' });
      await upload.click();
      await expect.poll(() => upload.isChecked()).toBe(false);
      await page.getByRole('switch', { name: 'Upload files', disabled: false }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      const { body } = await server.as(root)('GET /users/default/permissions');
      expect(body.chat.file_upload).toBe(false);
      expect(faults).toEqual([]);
    });

    test('the audit log shows what was done, filtered, with the values', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/admin/audit');
      await page.getByRole('table', { name: 'Audit log' }).waitFor();
      await page.getByLabel('Action', { exact: true }).first().click();
      await page.getByRole('option', { name: 'Account deleted' }).click();
      const deleted = page.getByRole('row', { name: /Account deleted/ }).filter({ hasText: 'Alan T.' });
      await deleted.waitFor();
      await deleted.getByRole('button', { name: 'Details: Account deleted' }).click();
      await page.getByText('"email": "alan@example.com"').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('button', { name: 'Clear the filters' }).click();
      await page.getByRole('cell', { name: 'Group created', exact: true }).first().waitFor();
      expect(faults).toEqual([]);
    });

    test('a webhook of a channel is created, posts by its address, and is deleted', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/admin/webhooks');
      await page.getByText('No channel has a webhook.').waitFor();
      await page.getByRole('button', { name: 'Create a webhook' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Channel').first().click();
      await page.getByRole('option', { name: 'secret' }).click();
      await form.getByLabel('Name').fill('CI');
      await form.getByRole('button', { name: 'Create a webhook' }).click();
      const address = await form.getByLabel('Address').inputValue();
      const answer = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ content: 'The build is done.' }),
      });
      expect(answer.status).toBe(200);
      await form.getByRole('button', { name: 'Close' }).last().click();
      await page.getByRole('cell', { name: 'CI', exact: true }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('button', { name: 'Delete the webhook CI' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No channel has a webhook.').waitFor();
      expect(faults).toEqual([]);
    });

    test('the address for new accounts keeps a refused address, and a delivery that failed is sent again', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/admin/webhooks');
      await page.getByText('There is no delivery.').waitFor();
      await page.getByLabel('Address').fill('http://10.0.0.1/hook');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByLabel('Address').inputValue()).toBe('http://10.0.0.1/hook');
      await page.getByLabel('Address').fill(target.url);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved', { exact: true }).last().waitFor();
      // That may still stand there from the test before.
      await expect
        .poll(async () => (await server.as(root)('GET /configs/export')).body.webhook_url)
        .not.toBe('');

      const account = { name: 'Eve', email: 'eve@example.com', password: PASSWORD };
      const signedUp = await server.call('POST /auths/signup', { body: account });
      expect(signedUp).toMatchObject({ status: 200 });
      const list = page.getByRole('table', { name: 'Deliveries' });
      const state = async (name: string) => {
        await page.getByRole('button', { name: 'Refresh' }).click();
        return list.getByRole('cell', { name, exact: true }).count();
      };
      await expect.poll(() => state('Failed')).toBe(1);
      await list.getByText('It answered 404.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      answer = 200;
      await list.getByRole('button', { name: 'Send again' }).click();
      await expect.poll(() => state('Delivered')).toBe(1);
      expect(target.heard.map(({ body }) => body.includes('Eve'))).toEqual([true, true]);
      await page.getByRole('combobox', { name: 'State' }).selectOption('Failed');
      await page.getByText('There is no delivery.').waitFor();
      expect(faults).toEqual([]);
    });

    test('the state names each part, on a narrow screen too', async () => {
      const { page, faults, context } = await openDesk(browser, server, root, {
        viewport: { width: 390, height: 844 },
      });
      await page.goto('/admin/state');
      await page.getByRole('row', { name: /Database and disk.*Works/ }).waitFor();
      await page.getByRole('row', { name: /Python for tools.*Degraded/ }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('combobox', { name: 'Administration' }).selectOption('People');
      await page.getByRole('link', { name: 'Ann' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(faults).toEqual([]);
      await context.close();
    });

    test('each view of the administration is reached by its section', async () => {
      const { page, faults } = await deskOf(root);
      await visit(page, '/');
      await page.getByRole('link', { name: 'Administration' }).click();
      for (const section of ['Groups', 'Permissions', 'Audit log', 'Webhooks', 'State', 'People']) {
        await open(page, section);
      }
      expect(faults).toEqual([]);
    });
  },
);
