import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { runTool, toolOf } from './published.ts';
import { openSocket, openWorkshop } from './workshop.ts';

const PIXEL = 'R0lGODlhAQABAAAAACw=';
/** The site that tools fetch pictures from; some requests fail. */
const site = createServer(({ url }, response) => {
  if (url === '/cut.gif') return response.destroy();
  response.statusCode = url === '/gone.gif' ? 404 : 200;
  response.setHeader('content-type', url === '/page' ? 'text/html' : 'image/gif');
  return response.end(Buffer.from(PIXEL, 'base64'));
}).listen(0, '127.0.0.1');

const shop = await openWorkshop();
afterAll(async () => {
  site.close();
  await shop.close();
});

describe('__request__', () => {
  const ADDRESS =
    'base = __request__.base_url\nreturn [base, f"{base}x", str(base).rstrip("/"), base.hostname, base.scheme, __request__.url == base]';

  it('has the address that the caller used, with a slash at the end', async () => {
    const { body } = await runTool(shop, toolOf('', ADDRESS));
    const { url } = shop.server;
    expect(body.result).toEqual([`${url}/`, `${url}/x`, url, '127.0.0.1', 'http', true]);
  });

  it('has the address of the caller on a socket too', async () => {
    await shop.create('on_socket', toolOf('', ADDRESS));
    const { client, sockets } = openSocket(shop.server.url, shop.reader.token);
    let error: unknown;
    let result: unknown;
    client.tools.run.subscribe(
      { id: 'on_socket', function: 'f' },
      {
        onData: ({ data }) => {
          if (data.type === 'result') result = data.result;
        },
        onError: (reason) => {
          error = reason;
        },
      },
    );
    await until('the result', () => error ?? result);
    expect([error, result]).toEqual([undefined, expect.arrayContaining([`${shop.server.url}/x`])]);
    sockets.close();
  });

  it.each(['https://parley.example.com', 'https://parley.example.com/'])(
    'has the configured address: %s',
    async (url) => {
      await shop.configure(({ webui }) => {
        webui.url = url;
      });
      const { body } = await runTool(shop, toolOf('', ADDRESS));
      expect(body.result.slice(0, 2)).toEqual([
        'https://parley.example.com/',
        'https://parley.example.com/x',
      ]);
      await shop.configure(({ webui }) => {
        webui.url = '';
      });
    },
  );

  it('knows the paths of files and names what it does not have', async () => {
    const body = `path = __request__.app.url_path_for
found = [path("get_file_content_by_id", id="a b/c"), path("get_file_by_id", id=7), __request__.url_for("get_file_by_id", id=7).path]
for ask in (lambda: path("get_user"), lambda: __request__.app.state.config, lambda: __request__.base_url.nothing, lambda: path("get_file_by_id")):
    try: ask()
    except (LookupError, AttributeError) as error: found.append(str(error))
return found`;
    expect((await runTool(shop, toolOf('', body))).body.result).toEqual([
      '/api/v1/files/a%20b%2Fc/content',
      '/api/v1/files/7',
      '/api/v1/files/7',
      expect.stringContaining('is not offered by this server'),
      '__request__.app.state is not offered by this server',
      'an address has no nothing',
      "'id'",
    ]);
  });
});

describe('a missing part of the call context', () => {
  const alone = 'is not there: this call is not part of a conversation';
  const HEAD = 'def f(self, __messages__, __files__, __metadata__, __model__, __request__)';

  it.each([
    ['__metadata__["chat_id"]', `NotHere: __metadata__['chat_id'] ${alone}`],
    ['__model__["id"]', `NotHere: __model__['id'] ${alone}`],
    ['__messages__[-1]["content"]', `NotHere: __messages__[-1] ${alone}`],
    ['__files__[0]', `NotHere: __files__[0] ${alone}`],
    [
      '__request__.headers["Authorization"]',
      "NotHere: __request__.headers['Authorization'] is not there: it carries nothing of the caller",
    ],
    ['__request__.json()', 'AttributeError: __request__.json is not offered by this server'],
  ])('raises an error with its name: %s', async (wanted, detail) => {
    const { status, body } = await runTool(shop, toolOf('', `return ${wanted}`, HEAD));
    expect([status, body.detail]).toEqual([422, detail]);
  });

  it('is empty, and does not raise for `get`, `in` and `getattr`', async () => {
    const body = `found = [__messages__, __files__, __metadata__, __model__, __messages__[-3:], dict(__request__.cookies)]
found.append([__metadata__.get("chat_id"), __request__.headers.get("x", 1), "id" in __model__, getattr(__request__, "json", 2)])
for look in (lambda: __metadata__["a"]["b"], lambda: __messages__[0]):
    try: look()
    except (KeyError, IndexError) as error: found.append(len(str(error)) > 0)
__metadata__["own"] = 1
return found + [__metadata__["own"], json.loads(json.dumps(copy.deepcopy(__metadata__)))]`;
    const answer = await runTool(shop, toolOf('import copy, json', body, HEAD));
    expect([answer.body.detail, answer.body.result]).toEqual([
      undefined,
      [[], [], { own: 1 }, {}, [], {}, [null, 1, false, 2], true, true, 1, { own: 1 }],
    ]);
  });
});

describe('Users.get_user_by_email', () => {
  const look = (email: string) =>
    toolOf(
      'from open_webui.models.users import Users',
      `user = Users.get_user_by_email(${JSON.stringify(email)})\nassert (await Users.get_user_by_email(${JSON.stringify(email)})) == user\nreturn user and user.name`,
    );
  const found = async (email: string, person = shop.reader) => {
    const { body } = await runTool(shop, look(email), {}, person);
    return [body.detail, body.result];
  };

  it('returns the account of the caller, in any spelling of its address', async () => {
    expect(await found('reader@example.com')).toEqual([undefined, 'Reader']);
    expect(await found('  Reader@EXAMPLE.com ')).toEqual([undefined, 'Reader']);
  });

  it('returns other accounts only to administrators', async () => {
    expect(await found('author@example.com', shop.admin)).toEqual([undefined, 'Author']);
    expect(await found('author@example.com')).toEqual([undefined, null]);
    expect(await found('author@example.com', shop.writer)).toEqual([undefined, null]);
  });

  it.each([
    ['an unknown address', 'nobody@example.com'],
    ['a text that is no address', 'somebody'],
    ['an empty text', ''],
    ['a pattern', '%'],
    ['a text that the database cannot store', 'a\0b'],
    ['a text that is too long', `${'x'.repeat(10_000)}@example.com`],
  ])('returns nothing for %s', async (_what, email) => {
    expect(await found(email, shop.admin)).toEqual([undefined, null]);
    expect(await found(email)).toEqual([undefined, null]);
  });
});

describe('get_image_data', () => {
  const { port } = site.address() as AddressInfo;
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;

  it.each([
    [at('/pixel.gif'), [14, 'image/gif']],
    [`data:image/png;base64,${PIXEL}`, [14, 'image/png']],
    [PIXEL, [14, 'image/png']],
    [at('/page'), [null, null]],
    [at('/gone.gif'), [null, null]],
    [at('/cut.gif'), [null, null]],
    ['http://127.0.0.1:1/x.gif', [null, null]],
    ['http://', [null, null]],
    ['data:image/png;base64,***', [null, null]],
  ])('decodes %s', async (data, expected) => {
    const body = `data, kind = get_image_data(${JSON.stringify(data)})
assert (data, kind) == await get_image_data(${JSON.stringify(data)})
return [data and len(data), kind]`;
    const answer = await runTool(shop, toolOf('from open_webui.routers.images import get_image_data', body));
    expect([answer.body.detail, answer.body.result]).toEqual([undefined, expected]);
  });
});
