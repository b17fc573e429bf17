import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { connectProvider, startProvider, type Wire } from '../support/provider.ts';
import { toolOf } from '../support/python.ts';
import { openWorkshop } from '../tools/workshop.ts';
import { violationsOn } from './axe.ts';
import { launchBrowser, openDesk, openDesks, visit, withoutBrowser } from './browser.ts';

const WEATHER = `
    async def temperature(self, city: str, __event_emitter__=None) -> str:
        """
        Tells the temperature.
        :param city: The city.
        """
        await __event_emitter__({"type": "status", "data": {"description": f"Looking at {city}", "done": False}})
        return f"It is 7 degrees in {city}."

    async def warn(self, __event_call__=None) -> str:
        confirmed = await __event_call__({"type": "confirmation", "data": {"title": "Warn all?", "message": "A storm comes."}})
        return "All are warned." if confirmed else "No one is warned."

    async def place(self, __event_call__=None) -> str:
        city = await __event_call__({"type": "input", "data": {"title": "Where are you?", "placeholder": "A city"}})
        return f"It rains in {city}."
`;

/** The main views, each with what shows that its data are there; other tests look at them in the light. */
const viewsOf = (channel: string): [path: string, loaded: (page: Page) => Locator][] => [
  [`/channels/${channel}`, (page) => page.getByRole('article')],
  ['/search?q=warm', (page) => page.getByRole('main').locator('mark')],
  ['/threads', (page) => page.getByText('appear here')],
  ['/tools', (page) => page.getByRole('link', { name: 'weather' })],
  ['/tools/weather', (page) => page.getByText('Version 1, saved')],
  ['/models', (page) => page.getByText('Helps with the weather')],
  ['/models/helper', (page) => page.getByLabel('Description')],
  ['/admin/people', (page) => page.getByRole('link', { name: 'Reader' })],
  ['/admin/permissions', (page) => page.getByRole('switch', { name: 'Upload files' })],
  ['/admin/configuration', (page) => page.getByRole('heading', { name: 'Accounts and interface' })],
  ['/admin/usage', (page) => page.getByRole('img', { name: 'Tokens by day' })],
  [
    '/admin/audit',
    (page) => page.getByRole('table', { name: 'Audit log' }).and(page.locator(':not([aria-busy])')),
  ],
  ['/account/profile', (page) => page.getByLabel('Name')],
];

describe.skipIf(withoutBrowser)('models on the page (needs chromium)', async () => {
  if (withoutBrowser) return;
  const provider = await startProvider('small');
  const { server, admin, reader, create, configure, permit, close } = await openWorkshop();
  await connectProvider(server, admin, provider);
  await configure((config) => {
    config.channels.model_response_mode = 'channel';
  });
  await create('weather', toolOf(WEATHER));
  const everyone = [grant('*', 'read')];
  const made = await server.as(admin)('POST /models/create', {
    id: 'helper',
    base_model_id: 'small',
    name: 'Helper',
    params: { temperature: 0.5 },
    meta: { description: 'Helps with the weather', toolIds: ['weather'], tags: [{ name: 'demo' }] },
    access_grants: everyone,
  });
  expect(made.status).toBe(200);
  const channel = await makeChannel(server, admin, grant(reader.id, 'read'), grant(reader.id, 'write'));
  const browser = await launchBrowser();
  const deskOf = openDesks(browser, server);
  const { page, faults } = await deskOf(reader);
  afterAll(async () => {
    await browser.close();
    await close();
    await provider.close();
  });

  /** Asks the model as a person does. */
  async function ask(words: string): Promise<void> {
    await visit(page, `/channels/${channel}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill(`@helper ${words}`);
    await field.press('Enter');
  }

  test('a reply grows, is stopped, and keeps its text', async () => {
    provider.script((_request, wire) => {
      wire.delta({ content: 'The **first words' });
    });
    await ask('tell a long story');
    // The open mark is closed while the text grows.
    await page.locator('strong', { hasText: 'first words' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped by a person.').waitFor();
    await page.getByText('The **first words').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('thoughts and calls of tools fold open, usage is shown', async () => {
    provider.script((request, wire) => {
      const results = request.body.messages.filter(({ role }: { role: string }) => role === 'tool');
      if (results.length > 0) return wire.say('It is warm in Oslo.');
      wire.delta({ reasoning_content: 'I look it up.' });
      wire.call({ name: 'temperature', arguments: { city: 'Oslo' } });
    });
    await ask('how warm is it?');
    await page.getByText('It is warm in Oslo.').waitFor();
    await page.getByRole('button', { name: 'Thoughts' }).click();
    await page.getByText('I look it up.').waitFor();
    await page.getByRole('button', { name: /temperature.*done/ }).click();
    const call = page.getByRole('list', { name: 'Calls of tools' });
    await call.getByText('"Oslo"').waitFor();
    await call.getByText('Looking at Oslo').waitFor();
    await call.getByText('7 degrees').waitFor();
    await page.getByRole('button', { name: /^Usage: .*30 tokens/ }).click();
    await page.getByText('Tokens written').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  /** The model calls a function without arguments, and repeats its result. */
  const callOnce = (name: string) =>
    provider.script((request, wire) => {
      const results = request.body.messages.filter(({ role }: { role: string }) => role === 'tool');
      if (results.length > 0) wire.say(results[0].content);
      else wire.call({ name, arguments: {} });
    });

  test('a tool that a model calls asks the person, who answers later from the message', async () => {
    callOnce('warn');
    await ask('warn them');
    const dialog = page.getByRole('dialog', { name: 'Warn all?' });
    await dialog.getByText('weather asks, called by the model Helper.').waitFor();
    await dialog.getByText('A storm comes.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    // Keys that were meant for the composer do not answer.
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    await dialog.getByRole('button', { name: 'Answer later' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Waits for your answer.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('All are warned.').waitFor();
    expect(await page.getByText('Waits for your answer.').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('the question is shown wherever the person is, until one of the pages answers', async () => {
    callOnce('place');
    const other = await page.context().newPage();
    await other.goto('/models');
    await other.getByText('Helps with the weather').waitFor();
    await ask('does it rain?');
    const [here, there] = [page, other].map((each) => each.getByRole('dialog', { name: 'Where are you?' }));
    await here?.waitFor();
    await there?.getByRole('textbox').fill('Bergen');
    await there?.getByRole('button', { name: 'Send' }).click();
    await there?.waitFor({ state: 'detached' });
    await here?.waitFor({ state: 'detached' });
    await page.getByText('It rains in Bergen.').waitFor();

    // A page that is opened later asks, too; a stopped reply ends the question.
    await ask('and now?');
    await here?.waitFor();
    await other.reload();
    await there?.waitFor();
    const replies = await server.as(reader)('GET /channels/questions');
    const [{ channel_id, message_id }] = replies.body;
    await server.as(reader)(`POST /channels/${channel_id}/messages/${message_id}/stop`);
    await here?.waitFor({ state: 'detached' });
    await there?.waitFor({ state: 'detached' });
    await other.close();
    expect(faults).toEqual([]);
  });

  test('a failed reply shows the words of the server, and is tried again', async () => {
    provider.script((_request, wire) => wire.json(400, { error: { message: 'The prompt is not allowed.' } }));
    await ask('fail');
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.getByText('The prompt is not allowed.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    provider.script((_request, wire: Wire) => wire.say('Now it works.'));
    await again.click();
    await page.getByText('Now it works.').waitFor();
    await again.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('a member finds a model and talks with it in a conversation of its own', async () => {
    provider.script((_request, wire: Wire) => wire.say('Hello, reader.'));
    await visit(page, '/models');
    await page.getByText('Helps with the weather').waitFor();
    await server.as(reader)('POST /channels/create', { type: 'dm', user_ids: [admin.id] });
    await page.getByLabel('Search models').fill('weather');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Talk with Helper' }).click();
    // Direct channels have no names of their own.
    await page.getByRole('menuitem', { name: 'Admin' }).waitFor();
    await page.getByRole('menuitem', { name: 'In a new conversation' }).click();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.waitFor();
    expect(await field.inputValue()).toBe('@Helper ');
    await field.press('End');
    await field.pressSequentially('Good morning');
    await field.press('Enter');
    await page.getByText('Hello, reader.').waitFor();
    expect(faults).toEqual([]);
  });

  test('a member makes a model, changes it, and restores an older version', async () => {
    await permit('workspace.models', true);
    await visit(page, '/models/new');
    await page.getByLabel('Name').fill('Travel Agent');
    expect(await page.getByRole('textbox', { name: 'Id', exact: true }).inputValue()).toBe('travel-agent');
    await page.getByRole('combobox', { name: 'Base model' }).click();
    await page.getByRole('option', { name: /Helper/ }).click();
    await page.getByLabel('System prompt').fill('You plan trips for ');
    await page.getByRole('button', { name: 'Insert a variable' }).click();
    await page.getByRole('menuitem', { name: 'USER_NAME' }).click();
    await page.getByRole('combobox', { name: 'Tools' }).click();
    await page.getByRole('option', { name: 'weather' }).click();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make the model' }).click();
    await page.getByText('Those who may use the model').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const stored = (await server.as(reader)('GET /models/model?id=travel-agent')).body;
    expect(stored).toMatchObject({
      base_model_id: 'helper',
      params: { system: 'You plan trips for {{USER_NAME}}' },
      meta: { toolIds: ['weather'] },
    });

    await page.getByRole('tab', { name: 'Model' }).click();
    await page.getByLabel('Description').fill('Plans trips');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The model was saved.').waitFor();

    // Another version does not replace what is typed, and no navigation loses it without a question.
    const prompt = page.getByLabel('System prompt');
    await prompt.fill('You plan long trips.');
    const { status } = await server.as(reader)('POST /models/model/update', {
      ...{ id: stored.id, name: stored.name, base_model_id: stored.base_model_id },
      meta: { ...stored.meta, suggestion: 'Theirs' },
      params: { system: 'Short trips.' },
    });
    expect(status).toBe(200);
    await page.getByRole('tab', { name: 'Access' }).click();
    await page.getByLabel('Give access to').fill('stranger');
    await page.getByRole('option', { name: /Stranger/ }).click();
    await page.getByRole('combobox', { name: 'Access of Stranger' }).waitFor();
    await page.getByRole('tab', { name: 'Model' }).click();
    expect(await prompt.inputValue()).toBe('You plan long trips.');
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Save over it' }).click();
    const kept = {
      params: { system: 'You plan long trips.' },
      meta: { description: 'Plans trips', suggestion: 'Theirs' },
    };
    await expect
      .poll(async () => (await server.as(reader)('GET /models/model?id=travel-agent')).body)
      .toMatchObject(kept);

    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByText('"Plans trips"').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Model' }).click();
    await page.getByLabel('Description').waitFor();
    expect((await server.as(reader)('GET /models/model?id=travel-agent')).body.meta.description).toBeFalsy();
    expect(faults).toEqual([]);
  });

  test('an administrator sets up a model of a provider, and sees why a person may not use it', async () => {
    const desk = await deskOf(admin);
    await visit(desk.page, '/models');
    await desk.page.getByRole('link', { name: 'small' }).click();
    await desk.page.getByLabel('Description').fill('The model of the provider');
    await desk.page.getByRole('button', { name: 'Make the model' }).click();
    await desk.page.getByRole('tab', { name: 'Why may a person use it?' }).click();
    await desk.page.getByPlaceholder('Search people').fill('Reader');
    await desk.page.getByRole('option', { name: /Reader/ }).click();
    await desk.page.getByText(/Reader may not/).waitFor();
    expect(await violationsOn(desk.page)).toEqual([]);
    expect(desk.faults).toEqual([]);
  });

  test('an export has the models, and an import names what it refuses', async () => {
    const desk = await deskOf(admin);
    await visit(desk.page, '/models');
    const downloading = desk.page.waitForEvent('download');
    await desk.page.getByRole('button', { name: 'Export' }).click();
    const exported = JSON.parse(await readFile(await (await downloading).path(), 'utf8'));
    expect(exported).toContainEqual(expect.objectContaining({ id: 'helper', base_model_id: 'small' }));
    await desk.page.getByRole('link', { name: 'Import' }).click();
    const models = [
      { id: 'fine', name: 'Fine', base_model_id: 'small', params: {}, meta: {} },
      { id: 'not fine', name: 'Bad', base_model_id: 'small' },
    ];
    await desk.page.locator('input[type=file]').setInputFiles({
      name: 'models.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(models)),
    });
    await desk.page.getByRole('button', { name: 'Import' }).click();
    await desk.page.getByRole('cell', { name: 'Stored.' }).waitFor();
    await desk.page.getByRole('cell', { name: /Refused\..*white space/ }).waitFor();
    expect(await violationsOn(desk.page)).toEqual([]);
    expect(desk.faults).toEqual([]);
  });

  test.each([
    ['a desk', { viewport: { width: 1280, height: 800 } }],
    ['a phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ])('the views can be read in the dark, on %s', async (_name, options) => {
    const desk = await openDesk(browser, server, admin, { ...options, colorScheme: 'dark' });
    const violations: Record<string, string[]> = {};
    for (const [path, loaded] of viewsOf(channel)) {
      await visit(desk.page, path);
      await loaded(desk.page).first().waitFor();
      const found = await violationsOn(desk.page);
      if (found.length > 0) violations[path] = found;
    }
    expect(violations).toEqual({});
    expect(desk.faults).toEqual([]);
    await desk.context.close();
  });
});
