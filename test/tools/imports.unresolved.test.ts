import { afterAll, describe, expect, it } from 'vitest';
import { runTool, toolOf } from './published.ts';
import { openWorkshop } from './workshop.ts';

const shop = await openWorkshop();
afterAll(() => shop.close());

const here = (line: number, what: string) =>
  `The import in line ${line} needs ${what}, which this server does not offer.`;
const nowhere = (line: number, what: string) => `The import in line ${line} needs ${what}, which is not here`;

/** @param content not to be stored, with that reason */
async function expectRefused(content: string, words: string) {
  const answer = await shop.create('unresolved', content);
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'tool_invalid', detail: expect.stringContaining(words) },
  });
  expect(answer.body.detail).not.toMatch(/\/(proc|src|tmp)\//);
  expect((await shop.as(shop.author, 'GET', 'unresolved')).status).toBe(404);
}

describe('an import that leads nowhere is named before anything is saved', () => {
  it.each([
    ['from open_webui.retrieval.utils import x', here(5, 'open_webui.retrieval')],
    ['import os\nimport nothing_of_the_kind, sys', nowhere(6, 'nothing_of_the_kind')],
    ['import numpyy.linalg as la\nfrom pandasx import DataFrame', nowhere(5, 'numpyy')],
    ['from open_webui.models.users import Nobody', here(5, 'Nobody of open_webui.models.users')],
  ])('%s', (line, words) => expectRefused(toolOf(line, 'pass'), words));

  it('also by an update, which leaves what was there', async () => {
    const content = toolOf('import os', 'return 1');
    await shop.create('updated', content);
    const body = { name: 'updated', meta: {}, content: toolOf('import nothing_of_the_kind', 'pass') };
    const answer = await shop.as(shop.author, 'POST', 'updated/update', body);
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      expect.stringContaining('nothing_of_the_kind'),
    ]);
    expect((await shop.as(shop.author, 'GET', 'updated')).body.content).toBe(content);
  });
});

describe('an import within a function that leads nowhere is a warning, and the tool is stored', () => {
  // The function begins in line 9 of such a source.
  it.each([
    ['from open_webui.retrieval.utils import x', here(9, 'open_webui.retrieval')],
    ['from open_webui.models import users, knowledge', here(9, 'knowledge of open_webui.models')],
    ['import open_webui.storage', here(9, 'open_webui.storage')],
    ['import os.path, numpyy.linalg as la', nowhere(9, 'numpyy')],
    ['def inner():\n    import nothing_of_the_kind', nowhere(10, 'nothing_of_the_kind')],
    ['for one in range(2): from nothing_of_the_kind import x', nowhere(9, 'nothing_of_the_kind')],
    ['with open("a") as file:\n    import nothing_of_the_kind', nowhere(10, 'nothing_of_the_kind')],
    ['try:\n    import nothing_of_the_kind\nexcept KeyError: pass', nowhere(10, 'nothing_of_the_kind')],
  ])('%s', async (body, words) => {
    const id = 'warned';
    const answer = await shop.create(id, toolOf('import os', body));
    expect([answer.status, answer.body.warnings]).toEqual([200, [expect.stringContaining(words)]]);
    await shop.as(shop.author, 'DELETE', `${id}/delete`);
  });

  it('once for each module, of an update and in an import too', async () => {
    await shop.create('quiet', toolOf('import os', 'return 1'));
    const content = toolOf('import os', 'import nothing_of_the_kind\nimport nothing_of_the_kind, other_kind');
    const warnings = [expect.stringContaining('nothing_of_the_kind'), expect.stringContaining('other_kind')];
    const body = { name: 'quiet', meta: {}, content };
    expect((await shop.as(shop.author, 'POST', 'quiet/update', body)).body).toMatchObject({ warnings });
    expect((await shop.as(shop.author, 'GET', 'quiet')).body.warnings).toBeUndefined();
    const tools = [{ id: 'brought', name: 'Brought', content }];
    const { body: imported } = await shop.server.call('POST /tools/import', {
      token: shop.author.token,
      body: { tools },
    });
    expect(imported.items).toMatchObject([{ outcome: 'stored', warnings }]);
    const call = await shop.as(shop.reader, 'POST', 'quiet/call', { function: 'f' });
    expect([call.status, call.body.detail]).toEqual([422, expect.stringContaining('nothing_of_the_kind')]);
  });
});

describe('a tool is stored that is ready to do without', () => {
  it.each([
    'try:\n    import nothing_of_the_kind\nexcept ImportError:\n    nothing_of_the_kind = None\nif False:\n    import never',
    'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from open_webui.retrieval.utils import x',
  ])('%s', async (imports) => {
    expect((await runTool(shop, toolOf(imports, 'return 1'))).body.result).toBe(1);
  });

  it.each([
    'try:\n    from open_webui.retrieval.utils import x\nexcept (KeyError, ModuleNotFoundError):\n    pass',
    'try:\n    import nothing_of_the_kind\nexcept Exception as error:\n    import json',
    'try:\n    import nothing_of_the_kind\nexcept:\n    pass',
    'if os.name == "nt":\n    import winreg',
    'import contextlib\nwith contextlib.suppress(ImportError):\n    import nothing_of_the_kind',
    'import os.path, xml.dom.minidom\nfrom open_webui.models import users',
    '"""\nimport nothing_of_the_kind\n"""',
  ])('within a function: %s', async (body) => {
    expect((await runTool(shop, toolOf('import os', `${body}\nreturn 1`))).body.result).toBe(1);
  });

  it('or that finds modules in a way of its own', async () => {
    const own =
      'import sys, types\nmodule = types.ModuleType("home_made")\nmodule.x = 1\nsys.modules["home_made"] = module';
    expect((await runTool(shop, toolOf(own, 'from home_made import x\nreturn x'))).body.result).toBe(1);
  });
});
