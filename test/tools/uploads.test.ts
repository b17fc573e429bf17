import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { runTool, toolOf } from './published.ts';
import { openWorkshop } from './workshop.ts';

/*
 * Files that tools upload are stored whole or not at all, with the rights and limits of an upload by the
 * caller.
 */

const shop = await openWorkshop();
await shop.permit('chat.file_upload', true);
afterAll(() => shop.close());

const IMPORTS =
  'import base64, bridge, io, os\nfrom fastapi import UploadFile\nfrom open_webui.routers.files import upload_file_handler';
const PART = 'base64.b64encode(b"x" * 100_000).decode()';

const run = (body: string, head?: string) => runTool(shop, toolOf(IMPORTS, body, head));
const filesOf = async () =>
  (await shop.server.call('GET /files?limit=200', { token: shop.reader.token })).body.items as {
    filename: string;
  }[];

/** Unfinished uploads of all users on the disk. */
const unfinished = async () =>
  (await readdir(join(shop.server.dataDir, 'uploads'))).filter((name) => name.endsWith('.part'));
const untilSwept = () =>
  until('the unfinished uploads to be gone', async () => (await unfinished()).length === 0);

describe('upload_file_handler', () => {
  it.each([
    ['an empty file', 0],
    ['less than a part', 5],
    ['exactly a part', 4 * 1024 ** 2],
    ['many parts', 30 * 1024 ** 2 + 1],
  ])('stores %s unchanged', async (_what, size) => {
    const { body } = await run(
      `data = os.urandom(64) * (${size} // 64) + b"." * (${size} % 64)
file = UploadFile(io.BytesIO(data), filename="data.bin")
item = upload_file_handler(__request__, file, metadata={"a": 1, "b": float("nan")}, process=False)
import hashlib
return [item.id, item.meta["size"], item.hash == hashlib.sha256(data).hexdigest()]`,
    );
    expect([body.detail, body.result?.slice(1)]).toEqual([undefined, [size, true]]);
    const { token } = shop.reader;
    const { body: file } = await shop.server.call(`GET /files/${body.result[0]}`, { token });
    expect(file).toMatchObject({ user_id: shop.reader.id, meta: { size, data: { a: 1, b: null } } });
  });

  it('returns a dictionary when it processes the file, and a model otherwise', async () => {
    const { body } = await run(
      `file = lambda: UploadFile(io.BytesIO(b"a"), filename="a.txt")
import json
item = upload_file_handler(__request__, file())
awaited = await upload_file_handler(__request__, file(), process=True)
model = upload_file_handler(__request__, file(), process=False)
return [
    [isinstance(item, dict), item["status"], item.get("filename"), item.get("none"), item.id == item["id"], item.status, "id" in item],
    [awaited["filename"], json.loads(json.dumps(item))["filename"], {**item}["filename"], item.model_dump()["filename"]],
    [isinstance(model, dict), model.filename, (await model).filename, getattr(item, "none", 0)],
]`,
    );
    expect([body.detail, body.result]).toEqual([
      undefined,
      [
        [true, true, 'a.txt', null, true, true, true],
        ['a.txt', 'a.txt', 'a.txt', 'a.txt'],
        [false, 'a.txt', 'a.txt', 0],
      ],
    ]);
  });

  it('returns the address of the file for the caller', async () => {
    const { body } = await run(
      `item = upload_file_handler(__request__, UploadFile(io.BytesIO(b"hello"), filename="a.txt"), process=False)
path = __request__.app.url_path_for("get_file_content_by_id", id=item.id)
return [path, str(__request__.url_for("get_file_content_by_id", id=item.id))]`,
    );
    const [path, url] = body.result;
    expect(url).toBe(`${shop.server.url}${path}`);
    const headers = { authorization: `Bearer ${shop.reader.token}` };
    expect(await (await fetch(url, { headers })).text()).toBe('hello');
  });

  it('refuses files above the configured size, and stores nothing of them', async () => {
    await shop.configure((config) => {
      config.files.max_size = 6_000_000;
    });
    const upload = (size: number) =>
      run(
        `return upload_file_handler(__request__, UploadFile(io.BytesIO(b"x" * ${size}), filename="bound.bin")).meta["size"]`,
      );
    expect((await upload(6_000_000)).body.result).toBe(6_000_000);
    for (const size of [6_000_001, 20_000_000]) {
      const { status, body } = await upload(size);
      expect([status, body.detail]).toEqual([422, expect.stringContaining('larger than 6000000 bytes')]);
    }
    expect((await filesOf()).filter(({ filename }) => filename === 'bound.bin')).toHaveLength(1);
    await untilSwept();
    await shop.configure((config) => {
      config.files.max_size = 100_000_000;
    });
  });
});

describe('a partial upload never becomes a file', () => {
  const begin = (filename: string) =>
    `upload = bridge.call("files.upload", filename="${filename}", metadata={}, data=${PART}, is_last=False)`;

  it.each([
    ['the function returns', 'return 1', 200],
    ['the function fails', 'raise ValueError("no")', 422],
    ['the process ends', 'os._exit(1)', 422],
    [
      'the file cannot be read to its end',
      'class Torn(io.BytesIO):\n    def read(self, n=-1):\n        if self.tell(): raise OSError("torn")\n        return super().read(n)\nupload_file_handler(__request__, UploadFile(Torn(b"x" * 9_000_000), filename="half.bin"))',
      422,
    ],
  ])('when %s', async (_what, how, status) => {
    expect((await run(`${begin('half.bin')}\n${how}`)).status).toBe(status);
    await untilSwept();
    expect((await filesOf()).filter(({ filename }) => filename === 'half.bin')).toEqual([]);
  });

  it('when its caller disconnects', async () => {
    const content = toolOf(IMPORTS, `${begin('half.bin')}\ntime.sleep(60)`, 'def f(self)').replace(
      'import base64',
      'import time, base64',
    );
    expect((await shop.create('left_alone', content)).status).toBe(200);
    const gone = new AbortController();
    const call = fetch(`${shop.server.url}/api/v1/tools/id/left_alone/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.reader.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ function: 'f' }),
      signal: gone.signal,
    });
    await until('the first part', async () => (await unfinished()).length > 0);
    gone.abort();
    await expect(call).rejects.toThrow('abort');
    await untilSwept();
  });

  it('when the function ends before the rights of its caller are known', async () => {
    // The thread asks, and the function ends before the answer of the database.
    const body = `import concurrent.futures, threading
asked, wait = threading.Event(), concurrent.futures.Future.result
def result(future, *limit):
    asked.set()
    return wait(future, *limit)
def send():
    try: bridge.call("files.upload", filename="late.bin", metadata={}, data=${PART}, is_last=False)
    except RuntimeError: pass
concurrent.futures.Future.result = result
threading.Thread(target=send).start()
asked.wait()
concurrent.futures.Future.result = wait
return 1`;
    expect((await shop.create('hasty', toolOf(IMPORTS, body))).status).toBe(200);
    for (let round = 0; round < 10; round += 1) {
      // For some seconds, each request of a tool reads the rights of its caller from the database.
      const unknown = '00000000-0000-4000-8000-000000000000';
      const { token } = shop.reader;
      expect((await shop.server.call(`DELETE /auths/sessions/${unknown}`, { token })).status).toBe(404);
      expect((await shop.as(shop.reader, 'POST', 'hasty/call', { function: 'f' })).status).toBe(200);
    }
    await untilSwept();
    const whole =
      'return upload_file_handler(__request__, UploadFile(io.BytesIO(b"a"), filename="a.txt"))["meta"]["size"]';
    expect((await run(whole)).body).toMatchObject({ result: 1 });
  });

  it('when the function continues it with another id, or continues it after its end', async () => {
    const { body } = await run(
      `${begin('whole.bin')}
def attempt(**values):
    try: return bridge.call("files.upload.part", data=${PART}, **values)
    except RuntimeError as error: return str(error)
return [
    attempt(upload=upload, is_last=False) == upload,
    attempt(upload=upload + 1, is_last=True),
    attempt(upload=upload, is_last=True)["meta"]["size"],
    attempt(upload=upload, is_last=True),
    attempt(upload="1", is_last=True),
]`,
    );
    const none = 'There is no such upload under way.';
    expect([body.detail, body.result]).toEqual([
      undefined,
      [true, none, 300_000, none, expect.stringContaining('shape')],
    ]);
  });

  it('and concurrent uploads do not mix', async () => {
    const { body } = await run(
      `from concurrent.futures import ThreadPoolExecutor
def upload(letter):
    data = letter * 5_000_000
    file = upload_file_handler(__request__, UploadFile(io.BytesIO(data), filename="mixed.bin"), process=False)
    from open_webui.models.files import Files
    return open(Files.get_file_by_id(file.id).path, "rb").read() == data
with ThreadPoolExecutor() as pool: return list(pool.map(upload, [b"a", b"b", b"c"]))`,
      'def f(self, __request__=None)',
    );
    expect([body.detail, body.result]).toEqual([undefined, [true, true, true]]);
  });
});
