import { afterAll, describe, expect, test } from 'vitest';
import { startTestPython } from '../support/python.ts';

const python = await startTestPython();
afterAll(() => python.close());

const inspect = (content: string) => python.inspect({ id: 'tool', content });
const CLASS = '\nclass Tools:\n    pass\n';

describe('manifest', () => {
  test.each<[string, string, Record<string, string>]>([
    ['usual', '"""\ntitle: Weather\nversion: 0.1\n"""', { title: 'Weather', version: '0.1' }],
    ['on the first line', '"""title: Weather\nversion: 1"""', { title: 'Weather', version: '1' }],
    ['in the other quotes', "'''\ntitle: Weather\n'''", { title: 'Weather' }],
    ['after comments', '#!/usr/bin/env python\n# hello\n\n"""\ntitle: A\n"""', { title: 'A' }],
    ['after a byte order mark', '\ufeff"""\ntitle: A\n"""', { title: 'A' }],
    ['CRLF', '"""\r\ntitle: A\r\nauthor: B\r\n"""\r\n', { title: 'A', author: 'B' }],
    ['with the last of equal keys', '"""\ntitle: A\ntitle: B\n"""', { title: 'B' }],
    [
      'from key lines only',
      '"""\nHello there\n  title : no\nx1: no\n- y: no\nurl: http://a/b\n"""',
      { url: 'http://a/b' },
    ],
    ['with escapes as written', '"""\npath: C:\\new\n"""', { path: 'C:\\new' }],
    [
      'from a raw docstring',
      'r"""\nicon_url: data:image/png;base64,AA==\n"""',
      { icon_url: 'data:image/png;base64,AA==' },
    ],
    ['with names of object members as keys', '"""\n__proto__: a\nconstructor: b\n"""', { constructor: 'b' }],
    ['as empty without a docstring', 'x = """\ntitle: A\n"""', {}],
    ['as empty without any text', '42', {}],
  ])('is read: %s', async (_, head, manifest) => {
    expect((await inspect(head + CLASS)).manifest).toEqual(manifest);
  });
});

describe('moved imports', () => {
  const stand =
    'import sys, types\nfor n in ("open_webui", "open_webui.utils", "open_webui.config"):\n' +
    '    sys.modules[n] = types.ModuleType(n)\nsys.modules["open_webui.utils"].misc = sys.modules["open_webui.config"].X = 1\n';

  test('are renamed in statements, not in texts and comments', async () => {
    const before =
      `${stand}# from utils import nothing\nTEXT = "from config import nothing"\r\né = 1; from utils import misc\r\n` +
      `if é:\n    from \\\n        config import X\n${CLASS}`;
    const { content } = await inspect(before);
    expect(content).toBe(
      before
        .replace('; from utils', '; from open_webui.utils')
        .replace('    config import X', '    open_webui.config import X'),
    );
    expect((await inspect(content)).content).toBe(content);
  });

  test('leave similar names and relative imports unchanged', async () => {
    const { content } = await inspect(
      `import sys, types\nsys.modules["utilsx"] = types.ModuleType("utilsx")\nsys.modules["utilsx"].a = 1\nfrom utilsx import a\n${CLASS}`,
    );
    expect(content).toContain('\nfrom utilsx import a\n');
  });

  test('name a stand-in that does not exist', async () => {
    const { warnings } = await inspect(`from apps.retrieval import x${CLASS}`);
    expect(warnings).toEqual([
      'The import in line 1 needs open_webui.apps.retrieval, which this server does not offer: what uses it fails.',
    ]);
  });
});
