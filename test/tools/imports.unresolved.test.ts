import { afterAll, describe, expect, it } from 'vitest';
import { runTool, toolOf } from './published.ts';
import { openWorkshop } from './workshop.ts';

const shop = await openWorkshop();
afterAll(() => shop.close());

const here = (line: number, what: string) =>
  `The import in line ${line} needs ${what}, which this server does not offer: what uses it fails.`;
const nowhere = (line: number, what: string) => `The import in line ${line} needs ${what}, which is not here`;

/** Expects that the content is refused with this reason and not stored. */
async function expectRefused(content: string, words: string) {
  const answer = await shop.create('unresolved', content);
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'tool_invalid', detail: expect.stringContaining(words) },
  });
  expect(answer.body.detail).not.toMatch(/\/(proc|src|tmp)\//);
  expect((await shop.as(shop.author, 'GET', 'unresolved')).status).toBe(404);
}

describe('a top-level import of a missing module is refused, and nothing is stored', () => {
  it.each([
    ['import os\nimport nothing_of_the_kind, sys', nowhere(6, 'nothing_of_the_kind')],
    ['import numpyy.linalg as la\nfrom pandasx import DataFrame', nowhere(5, 'numpyy')],
  ])('%s', (line, words) => expectRefused(toolOf(line, 'pass'), words));

  it('an update with such an import leaves the stored tool as it is', async () => {
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

describe('an import of a missing module within a function is a warning, and the tool is stored', () => {
  // The function begins in line 9 of these sources.
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

  it('warns once for each module, also in an update and in an import', async () => {
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

describe('a missing part of open_webui is a warning, and the tool is stored', () => {
  // The function is in line 8 of these sources.
  it.each([
    ['from open_webui.retrieval.utils import x', here(5, 'open_webui.retrieval')],
    ['from open_webui.models.users import Nobody', here(5, 'Nobody of open_webui.models.users')],
    ['from open_webui.routers import retrieval as x', here(5, 'retrieval of open_webui.routers')],
    ['import open_webui.storage.provider as x', here(5, 'open_webui.storage')],
    ['from apps.webui.internal.db import x', here(5, 'open_webui.apps.webui.internal')],
  ])('%s', async (line, words) => {
    const answer = await shop.create('warned', toolOf(line, 'pass'));
    expect([answer.status, answer.body.warnings]).toEqual([200, [words]]);
    await shop.as(shop.author, 'DELETE', 'warned/delete');
  });

  const elsewhere =
    'from open_webui.models.knowledge import Knowledges, KnowledgeForm\nimport open_webui.storage';

  it('the tool works as long as it does not use the missing part', async () => {
    const imports = `${elsewhere}
from abc import ABC
from typing import Optional, Union
from pydantic import BaseModel
class Form(KnowledgeForm, BaseModel):
    name: str = ""
class Base(Knowledges, ABC, kind="a"): pass
class Holder(BaseModel):
    one: Optional[KnowledgeForm] = None
    more: list[Knowledges] | None = None
def find(what: Knowledges, other: "KnowledgeForm | None" = None) -> KnowledgeForm | None: pass`;
    const body = 'return [isinstance(1, Knowledges), Holder(one=1).one, find(1)]';
    const source = toolOf(
      imports,
      body,
      'held = Knowledges\n    def f(self, form: Optional[Knowledges] = None)',
    );
    const stored = await shop.create('uses_none', source);
    expect(stored.body.specs).toMatchObject([{ name: 'f', parameters: { properties: { form: {} } } }]);
    const { body: answer } = await shop.as(shop.reader, 'POST', 'uses_none/call', { function: 'f' });
    expect(answer.result).toEqual([false, 1, null]);
  });

  it.each([
    [
      'await Knowledges.get_knowledge_by_id("x")',
      'open_webui.models.knowledge.Knowledges.get_knowledge_by_id',
    ],
    ['Knowledges()', 'open_webui.models.knowledge.Knowledges'],
    ['class Own(KnowledgeForm): pass\nOwn()', 'open_webui.models.knowledge.KnowledgeForm'],
    ['for one in Knowledges: pass', 'open_webui.models.knowledge.Knowledges'],
    ['if Knowledges.ENABLED: pass', 'open_webui.models.knowledge.Knowledges.ENABLED'],
    ['f"{Knowledges.URL}/x"', 'open_webui.models.knowledge.Knowledges.URL'],
    ['open_webui.storage.Storage.get_file("x")', 'open_webui.storage.Storage.get_file'],
    ['"x" in Knowledges["a"]', 'open_webui.models.knowledge.Knowledges'],
  ])('using the missing part raises an error with its name: %s', async (use, name) => {
    const { status, body } = await runTool(shop, toolOf(elsewhere, use));
    expect([status, body.detail]).toEqual([422, `NotOffered: ${name} is not offered by this server`]);
  });

  it('using the missing part while the source loads refuses the tool with that name', async () => {
    await expectRefused(
      toolOf(`${elsewhere}\nstore = Knowledges()`, 'pass'),
      'in line 7: NotOffered: open_webui.models.knowledge.Knowledges is not offered by this server',
    );
  });

  it('the source falls back to its `except` clauses', async () => {
    const imports = `try:
    from open_webui.retrieval.utils import x
except ImportError:
    try:
        from open_webui.apps.retrieval.utils import x
    except ImportError: x = 1
try:
    from open_webui.models.chats import Gone
except Exception: Gone = 2
try: from open_webui.nowhere import last
except ImportError: from open_webui.apps.nowhere import last`;
    const { body } = await runTool(shop, toolOf(imports, 'return [x, Gone, repr(last)]'));
    expect(body.result).toEqual([1, 2, '<open_webui.apps.nowhere.last: not offered by this server>']);
  });
});

describe('a tool that handles a missing import is stored', () => {
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
  ])('handles it within a function: %s', async (body) => {
    expect((await runTool(shop, toolOf('import os', `${body}\nreturn 1`))).body.result).toBe(1);
  });

  it('makes the module itself', async () => {
    const own =
      'import sys, types\nmodule = types.ModuleType("home_made")\nmodule.x = 1\nsys.modules["home_made"] = module';
    expect((await runTool(shop, toolOf(own, 'from home_made import x\nreturn x'))).body.result).toBe(1);
  });
});
