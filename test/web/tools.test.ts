import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { egressToHere, startTarget } from '../egress/targets.ts';
import { startTestPython } from '../support/python.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { offerWheels } from '../tools/wheels.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesks, visit, withoutBrowser } from './browser.ts';

const DEPLOY = `"""
title: Deploy
version: 2.0
"""
import asyncio


class Tools:
    async def deploy(self, version: str, loud: bool = False, __event_emitter__=None, __event_call__=None) -> dict:
        """
        Deploy a version.

        :param version: Which one
        """
        await __event_emitter__({"type": "status", "data": {"description": "Looking around", "done": True}})
        confirmed = await __event_call__({"type": "confirmation", "data": {"title": f"Deploy {version}?"}})
        name = await __event_call__({"type": "input", "data": {"title": "Who?", "message": "Your name"}})
        return {"confirmed": confirmed, "by": name}

    async def wait(self) -> None:
        await asyncio.sleep(60)
`;

const BANK = `
from typing import Literal
from pydantic import BaseModel, Field


class Tools:
    class Valves(BaseModel):
        currency: str = Field("EUR", pattern="^[A-Z]{3}$", description="Three capital letters")
        key: str = Field("", json_schema_extra={"input": {"type": "password"}})
        region: str = Field("eu", json_schema_extra={"input": {"type": "select", "options": "regions"}})
        marks: list[str] = []
        odd: str = Field("", json_schema_extra={"title": 5, "description": {"a": 1}, "anyOf": "none"})

        @classmethod
        def regions(cls):
            return [{"value": "eu", "label": "Europe"}, {"value": "us", "label": "America"}, {"value": "us", "label": "America"}]

    class UserValves(BaseModel):
        rounded: bool = False

    def __init__(self):
        self.valves = self.Valves()

    def check(self, pace: Literal["slow", "fast"] = "slow", __user__: dict = {}) -> str:
        v = self.valves
        return f"{len(v.key)} {v.region} {v.marks} {pace} {__user__['valves'].rounded}"
`;

const source = (body: string) => `class Tools:\n    def f(self) -> str:\n        return "${body}"\n`;

/** Replaces the text of the editor. */
async function write(page: Page, text: string) {
  await page.getByRole('textbox', { name: 'Source in Python' }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}

describe.skipIf(withoutBrowser)('tools (skipped without the Debian package chromium)', async () => {
  const wheels = await offerWheels([['greeter', '1.0', 'hello', []]]);
  const target = await startTarget((_request, response) => response.end(source('from afar')));
  const egress = egressToHere();
  const python = await startTestPython({});
  const server = await startServer({ python, egress });
  const [root, ann] = await signUpAll(server, 'Root', 'Ann');
  const api = server.as(root);
  const create = (id: string, name: string, content: string) =>
    api('POST /tools/create', { id, name, meta: {}, content });
  const browser = await launchBrowser();
  const deskOf = openDesks(browser, server);
  afterAll(async () => {
    await browser.close();
    await server.close();
    await python.close();
    await egress.close();
    await target.close();
    await wheels.close();
  });

  test('a person writes a tool, sees its error at the line, mends it, runs it and answers it', async () => {
    const { page, faults } = await deskOf(root);
    await visit(page, '/tools');
    await page.getByText('There is no tool yet').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('link', { name: 'New tool' }).first().click();
    await page.getByLabel('Name').fill('Deploy');
    await write(page, DEPLOY.replace('def deploy(self', 'def deploy(self,,'));
    await page.getByRole('button', { name: 'Create the tool' }).click();
    await page.getByRole('alert').getByText('in line 9').waitFor();
    expect(await page.locator('.cm-lint-marker-error').count()).toBe(1);
    expect(await page.locator('.cm-lintRange-error').first().textContent()).toContain('def deploy');
    expect(await violationsOn(page)).toEqual([]);

    await write(page, DEPLOY);
    await page.getByRole('button', { name: 'Create the tool' }).click();
    await page.getByText('Version 1, saved').waitFor();
    await page.getByRole('heading', { name: 'Functions' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);

    await page.getByRole('tab', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('This parameter is required.', { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Version', exact: true }).fill('2.1');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Deploy 2.1?' });
    await question.waitFor();
    await page.getByText('Looking around', { exact: true }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await question.getByRole('button', { name: 'Confirm' }).click();
    await page.getByLabel('Your name').fill('Root');
    await page.keyboard.press('Enter');
    await page.getByText('"by": "Root"').waitFor();
    await page.getByText('"confirmed": true').waitFor();
    expect(await violationsOn(page)).toEqual([]);

    await page.getByRole('combobox', { name: 'Function' }).click();
    await page.getByRole('option', { name: 'wait' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('You stopped the function').waitFor();
    await page.getByRole('tab', { name: 'Runs' }).click();
    await page.getByRole('table', { name: 'Runs' }).getByText('Done').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Packages' }).click();
    await page.getByText('Name them in the frontmatter').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('a secret setting is stored and not shown, and a wrong one is told at its field', async () => {
    await create('bank', 'Bank', BANK);
    const { page, faults } = await deskOf(root);
    await visit(page, '/tools/bank?tab=valves');
    const ofTool = page.getByRole('region', { name: 'Settings of the tool' });
    await ofTool.getByLabel('Currency').fill('euro');
    await ofTool.getByRole('button', { name: 'Save' }).click();
    await ofTool.getByText("String should match pattern '^[A-Z]{3}$'", { exact: true }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await ofTool.getByRole('button', { name: 'Use the default of Currency' }).click();
    await ofTool.getByLabel('Key', { exact: true }).fill('open sesame');
    await ofTool.getByLabel('Region').click();
    await page.getByRole('option', { name: 'America' }).click();
    await ofTool.getByRole('button', { name: 'Add to Marks' }).click();
    await ofTool.getByLabel('Marks 1', { exact: true }).fill('private');
    await ofTool.getByRole('button', { name: 'Save' }).click();
    await ofTool.getByText('Saved').waitFor();
    const own = page.getByRole('region', { name: 'Your own settings' });
    await own.getByLabel('Rounded').check();
    await own.getByRole('button', { name: 'Save' }).click();
    await own.getByText('Saved').waitFor();

    await page.reload();
    const key = ofTool.getByLabel('Key', { exact: true });
    await key.waitFor();
    expect(await key.inputValue()).toBe('');
    expect(await key.getAttribute('placeholder')).toContain('Leave empty to keep it');
    await ofTool.getByRole('button', { name: 'Remove Marks 1' }).click();
    await ofTool.getByRole('button', { name: 'Save' }).click();
    await ofTool.getByText('Saved').waitFor();
    await page.getByRole('tab', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('11 us [] slow True').waitFor();

    // A save replaces only what the person changed, also when newer values were read meanwhile.
    await page.getByRole('tab', { name: 'Settings' }).click();
    await ofTool.getByRole('combobox', { name: 'Region' }).click();
    await page.getByRole('option', { name: 'Europe' }).click();
    await api('POST /tools/id/bank/valves/update', { currency: 'USD' });
    await page.getByRole('tab', { name: 'Source' }).click();
    await write(page, `${BANK}\n`);
    const read = page.waitForResponse((response) => response.url().includes('valves.get'));
    await page.keyboard.press('Control+S');
    await read;
    await page.getByRole('tab', { name: 'Settings' }).click();
    await ofTool.getByRole('button', { name: 'Save' }).click();
    await ofTool.getByText('Saved').waitFor();
    expect((await api('GET /tools/id/bank/valves')).body).toMatchObject({ currency: 'USD', region: 'eu' });
    expect(faults).toEqual([]);
  });

  test('versions are compared and restored, and text of two people is never lost', async () => {
    await create('poem', 'Poem', source('one'));
    const i18n = { de: { name: 'Gedicht' } };
    await api('POST /tools/id/poem/update', { name: 'Poem', meta: { i18n }, content: source('one') });
    const { page, faults } = await deskOf(root);
    page.on('dialog', (dialog) => void dialog.accept());
    await visit(page, '/tools/poem');
    await write(page, source('two'));
    await page.getByLabel('Note for this version').fill('A better line');
    await page.keyboard.press('Control+S');
    await page.getByText('Version 2, saved').waitFor();
    expect((await api('GET /tools/id/poem')).body.meta).toMatchObject({ i18n });

    await write(page, source('mine'));
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await page.getByText('This is your draft').waitFor();
    const theirs = { description: 'Their words', i18n: { de: { name: 'Ode' } } };
    await api('POST /tools/id/poem/update', { name: 'Poem', meta: theirs, content: source('theirs') });
    await page.getByRole('button', { name: 'Save' }).click();
    const conflict = page.getByRole('dialog', { name: 'Another person saved this tool' });
    await conflict.getByText('theirs').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await conflict.getByRole('button', { name: 'Save mine as the newest' }).click();
    await page.getByText('Version 4, saved').waitFor();
    expect((await api('GET /tools/id/poem')).body).toMatchObject({ meta: theirs, content: source('mine') });

    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('button', { name: /Version 2 .*A better line/ }).click();
    await page.getByText('From version 2 to the current one').waitFor();
    await page.locator('.cm-deletedChunk').getByText('two').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('button', { name: /Version 5 current/ }).waitFor();
    expect((await api('GET /tools/id/poem')).body.content).toBe(source('two'));
    expect(faults).toEqual([]);
  });

  test('an export is tried before it is imported', async () => {
    const { page, faults } = await deskOf(root);
    await visit(page, '/tools/import');
    const tools = [
      { id: 'shout', name: 'Shout', meta: {}, content: source('hey') },
      { id: 'broken', name: 'Broken', meta: {}, content: 'class Tool: pass\n' },
    ];
    await page.locator('input[type=file]').setInputFiles({
      name: 'tools.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(tools)),
    });
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('The source defines no class Tools.').waitFor();
    await page.getByText('Can be imported').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Import 1 tool' }).click();
    await page.getByRole('link', { name: 'Shout' }).click();
    await page.getByText('Version 1, saved').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export' }).click();
    expect((await download).suggestedFilename()).toBe('shout.json');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete the tool' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the tool' }).click();
    await page.getByRole('link', { name: 'New tool' }).waitFor();
    expect((await api('GET /tools/id/shout')).status).toBe(404);
    expect(faults).toEqual([]);
  });

  test('a source from an address opens in the editor and is stored after it was read', async () => {
    const { page, faults } = await deskOf(root);
    await visit(page, '/tools/import');
    await page.getByLabel('Address of the source').fill(`${target.url}/afar.py`);
    await page.getByRole('button', { name: 'Load' }).click();
    await page.getByText('from afar').waitFor();
    expect((await api('GET /tools/id/afar')).status).toBe(404);
    await page.getByRole('button', { name: 'Create the tool' }).click();
    await page.getByText('Version 1, saved').waitFor();
    expect((await api('GET /tools/id/afar')).body.content).toBe(source('from afar'));
    expect(faults).toEqual([]);
  });

  test('packages are installed after an administrator allows it, with the log', async () => {
    await create('polite', 'Polite', `"""\nrequirements: greeter\n"""\n${source('x')}`);
    const { page, faults } = await deskOf(root);
    await visit(page, '/tools/polite?tab=packages');
    await page.getByRole('button', { name: 'Install' }).click();
    await page.getByRole('alert').getByText('tools.install_requirements').waitFor();
    await api('POST /configs/import', { 'tools.install_requirements': true });
    await page.getByRole('button', { name: 'Install' }).click();
    await page.getByText('Installed', { exact: true }).waitFor({ timeout: 100_000 });
    await page.getByRole('textbox', { name: 'Log of the installation' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('a second person sees a shared tool and runs it, without its source', async () => {
    await create('greet', 'Greeter', source('hello'));
    const { page } = await deskOf(root);
    const { page: other, faults } = await deskOf(ann);
    await visit(other, '/tools');
    await other.getByText('There is no tool yet').waitFor();
    await visit(page, '/tools/greet?tab=access');
    await page.getByLabel('Give access to').fill('Ann');
    await page.getByRole('option', { name: 'Ann' }).click();
    await page.getByLabel('Access of Ann').waitFor();
    expect(await violationsOn(page)).toEqual([]);

    await other.reload();
    await other.getByRole('link', { name: /Greeter/ }).click();
    await other.getByText('You may use it').waitFor();
    expect(await other.getByRole('tab', { name: 'Source' }).count()).toBe(0);
    await other.getByRole('button', { name: 'Run', exact: true }).click();
    await other.getByText('hello').waitFor();
    expect(await violationsOn(other)).toEqual([]);
    await other.getByRole('tab', { name: 'About' }).click();
    await other.getByText('Functions').waitFor();
    expect(await violationsOn(other)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
