import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool, toolOf } from './published.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

let shop: Workshop;
/** A site for tools to fetch from; the tests let tools reach any address, this machine included. */
const site = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<title>Hi</title><p class="a">one</p><p class="a">two</p>');
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  shop = await openWorkshop();
  await shop.permit('chat.file_upload', true);
});
afterAll(async () => {
  site.close();
  await shop.close();
});

async function resultOf(...tool: Parameters<typeof toolOf>) {
  const args = tool[1].includes('(url') ? { url } : {};
  const { status, body } = await runTool(shop, toolOf(...tool), args);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body;
}

describe('a tool', () => {
  it('uses requests', async () => {
    const { result } = await resultOf('import requests', 'return requests.get(url, timeout=50).status_code');
    expect(result).toBe(200);
  });

  it('uses aiohttp', async () => {
    const { result } = await resultOf(
      'import aiohttp',
      'async with aiohttp.ClientSession() as session:\n    async with session.get(url) as response:\n        return response.status',
    );
    expect(result).toBe(200);
  });

  it('uses httpx', async () => {
    const { result } = await resultOf(
      'import httpx',
      'async with httpx.AsyncClient() as client:\n    return (await client.get(url)).text[:16]',
    );
    expect(result).toBe('<title>Hi</title');
  });

  it('uses bs4', async () => {
    const { result } = await resultOf(
      'import requests\nfrom bs4 import BeautifulSoup',
      'soup = BeautifulSoup(requests.get(url).text, "html.parser")\nreturn [p.text for p in soup.select("p.a")]',
    );
    expect(result).toEqual(['one', 'two']);
  });

  it.each([
    ['from loguru import logger', 'logger.info("a")\nreturn 1', 1],
    ['from dotenv import load_dotenv', 'return load_dotenv()', false],
    ['from pytz import timezone', 'return str(timezone("Asia/Tokyo"))', 'Asia/Tokyo'],
    [
      'from youtube_transcript_api import YouTubeTranscriptApi',
      'return YouTubeTranscriptApi.__name__',
      'YouTubeTranscriptApi',
    ],
    ['import websockets', 'return websockets.State.OPEN.name', 'OPEN'],
    [
      'import io\nfrom PIL import Image',
      'file = io.BytesIO()\nImage.new("RGB", (2, 1)).save(file, "PNG")\nreturn Image.open(file).size',
      [2, 1],
    ],
    [
      'import io\nfrom pypdf import PdfReader, PdfWriter',
      'file = io.BytesIO()\nout = PdfWriter()\nout.add_blank_page(9, 9)\nout.write(file)\nreturn len(PdfReader(file).pages)',
      1,
    ],
  ])('uses: %s', async (line, body, expected) => {
    // biome-ignore format: one line each
    expect((await resultOf(line, body)).result).toEqual(expected);
  });

  it('that imports no package runs in a process without the larger packages', async () => {
    const names = '{"PIL", "pypdf", "pytz", "loguru", "websockets", "dotenv", "youtube_transcript_api"}';
    expect((await resultOf('import sys', `return sorted(${names} & set(sys.modules))`)).result).toEqual([]);
  });

  it('returns a page of fastapi to be shown', async () => {
    const { result, events } = await resultOf(
      'from fastapi.responses import HTMLResponse',
      'return HTMLResponse(content="<b>hi</b>", headers={"Content-Disposition": "Inline"})',
    );
    expect(result).toMatchObject({ status: 'success', code: 'ui_component' });
    expect(events).toEqual([{ type: 'embeds', data: { embeds: ['<b>hi</b>'] } }]);
  });

  it('returns a page of fastapi with a value for the model', async () => {
    const page = 'HTMLResponse("<b>hi</b>", headers={"content-disposition": "inline"})';
    const { result } = await resultOf(
      'from fastapi.responses import HTMLResponse',
      `return ${page}, {"seen": True}`,
    );
    expect(result).toEqual({ seen: true });
  });

  it('returns a plain response of fastapi', async () => {
    const { result, events } = await resultOf(
      'from fastapi import Request\nfrom fastapi.responses import HTMLResponse',
      'return HTMLResponse("<b>hi</b>")',
    );
    expect([result, events]).toEqual(['<b>hi</b>', []]);
  });

  it('returns a stream of fastapi', async () => {
    const { result, events } = await resultOf(
      'from fastapi.responses import StreamingResponse',
      'async def more():\n    yield "hé, "\n    yield b"you"\nreturn StreamingResponse(more())',
    );
    expect([result, events]).toEqual(['hé, you', []]);
  });

  it('cannot return a FileResponse of fastapi; the error names another way', async () => {
    const body = 'open("a.txt", "w").write("a")\nreturn FileResponse("a.txt")';
    const answer = await runTool(shop, toolOf('from fastapi.responses import FileResponse', body));
    expect([answer.status, answer.body.detail]).toEqual([
      422,
      'TypeError: a FileResponse cannot be a result: return what the file says, or store it with upload_file_handler',
    ]);
  });

  it('uses run_in_threadpool', async () => {
    const { result } = await resultOf(
      'from fastapi.concurrency import run_in_threadpool',
      'return await run_in_threadpool(sum, [1, 2])',
    );
    expect(result).toBe(3);
  });

  it('uses pydantic', async () => {
    const { result } = await resultOf(
      'from pydantic import BaseModel, Field\n\nclass Item(BaseModel):\n    n: int = Field(default=1, description="how many")',
      'return Item(n="2")',
    );
    expect(result).toEqual({ n: 2 });
  });

  it.each([
    'from open_webui.models.users import Users, UserModel',
    'from apps.webui.models.users import Users',
  ])('gets its caller: %s', async (line) => {
    const { result } = await resultOf(
      line,
      'user = Users.get_user_by_id(__user__["id"])\nreturn [user.name, user.email, user.role]',
    );
    expect(result).toEqual(['Reader', 'reader@example.com', 'user']);
  });

  it.each([
    ['threading.Thread', 'thread = threading.Thread(target=look); thread.start(); thread.join()'],
    ['ThreadPoolExecutor', 'with ThreadPoolExecutor() as pool: list(pool.map(lambda _: look(), [1]))'],
    ['asyncio.to_thread', 'asyncio.run(asyncio.to_thread(look))'],
    [
      'run_in_executor',
      'async def run(): await asyncio.get_running_loop().run_in_executor(None, look)\nasyncio.run(run())',
    ],
  ])('reads Users in a plain function and in a thread of %s', async (_way, start) => {
    const { result } = await resultOf(
      'import asyncio, threading\nfrom concurrent.futures import ThreadPoolExecutor\nfrom open_webui.models.users import Users',
      `found = []\ndef look(): found.append(Users.get_user_by_id(__user__["id"]).name)\n${start}\nreturn found`,
      'def f(self, __user__: dict = {})',
    );
    expect(result).toEqual(['Reader']);
  });

  it('awaits Users and Files, as newer versions require', async () => {
    const { result } = await resultOf(
      'from open_webui.models.files import Files\nfrom open_webui.models.users import Users',
      'own = await Users.get_user_by_id(__user__["id"])\nnobody = await Users.get_user_by_email("nobody@example.com")\nfiles = await Files.get_files_by_user_id(own.id)\nreturn [own.name, nobody, await Users.get_user_by_id("gone") or "none", await Files.get_file_by_id("gone"), isinstance(files, list)]',
    );
    expect(result).toEqual(['Reader', null, 'none', null, true]);
  });

  it('uploads with upload_file_handler', async () => {
    const { result } = await resultOf(
      'import io\nfrom fastapi import UploadFile\nfrom fastapi.concurrency import run_in_threadpool\nfrom open_webui.routers.files import upload_file_handler\nfrom open_webui.models.users import Users',
      'user = Users.get_user_by_id(__user__["id"])\nfile = UploadFile(file=io.BytesIO(b"a,b"), filename="a.csv", headers={"content-type": "text/csv"})\nitem = await run_in_threadpool(upload_file_handler, __request__, file=file, metadata={"x": 1}, process=False, user=user)\nreturn item.id',
    );
    const file = await shop.server.call(`GET /files/${result}`, { token: shop.reader.token });
    expect(file.body).toMatchObject({
      user_id: shop.reader.id,
      filename: 'a.csv',
      meta: { size: 3, data: { x: 1 } },
    });
    expect((await shop.server.call(`GET /files/${result}`, { token: shop.author.token })).status).toBe(404);
  });

  it('uploads a large file with upload_file_handler on the event loop', async () => {
    const { result } = await resultOf(
      'import io\nfrom fastapi import UploadFile\nfrom open_webui.routers.files import upload_file_handler',
      'return upload_file_handler(__request__, UploadFile(io.BytesIO(b"x" * 5_000_000), filename="x.bin")).meta["size"]',
    );
    expect(result).toBe(5_000_000);
  });

  it('uses get_image_data and upload_image', async () => {
    const { result } = await resultOf(
      'from open_webui.routers.images import upload_image, get_image_data, image_generations, GenerateImageForm',
      'data, kind = get_image_data("data:image/gif;base64,R0lGODlhAQABAAAAACw=")\nitem, url = upload_image(__request__, data, kind, {}, None)\nreturn [kind, item.filename, url == f"/api/v1/files/{item.id}/content"]',
    );
    expect(result).toEqual(['image/gif', 'generated-image.gif', true]);
  });

  it('lists and gets files with Files', async () => {
    const { result } = await resultOf(
      'from open_webui.models.files import Files',
      'own = Files.get_files_by_user_id(__user__["id"])\nreturn [len(own) > 0, Files.get_file_by_id(own[0].id).filename == own[0].filename, Files.get_file_by_id("nothing")]',
    );
    expect(result).toEqual([true, true, null]);
  });

  it('reads the text of a file with Files', async () => {
    const store =
      'Files.get_file_by_id(upload_file_handler(__request__, UploadFile(io.BytesIO(data), filename=name)).id)';
    const { result } = await resultOf(
      'import io\nfrom fastapi import UploadFile\nfrom open_webui.models.files import Files\nfrom open_webui.routers.files import upload_file_handler',
      `def stored(name, data): return ${store}\nreturn [stored("a.txt", "a\\nä".encode()).data["content"], stored("a.bin", bytes(9)).data.get("content"), stored("a.md", b"").data.get("content")]`,
    );
    expect(result).toEqual(['a\nä', null, '']);
  });

  it('opens a file of Files by its path', async () => {
    const upload = 'upload_file_handler(__request__, UploadFile(io.BytesIO(data), filename="../a b.txt")).id';
    const { result } = await resultOf(
      'import io, os\nfrom fastapi import UploadFile\nfrom open_webui.models.files import Files\nfrom open_webui.routers.files import upload_file_handler',
      `data = b"x" * 5_000_000 + b"end"\nfile = Files.get_file_by_id(${upload})\nreturn [open(file.path, "rb").read() == data, os.path.basename(file.path), file.path == Files.get_file_by_id(file.id).path]`,
    );
    expect(result).toEqual([true, 'a b.txt', true]);
    const { result: lengths } = await resultOf(
      'import asyncio, os\nfrom open_webui.models.files import Files',
      'file = next(one for one in Files.get_files_by_user_id(__user__["id"]) if one.filename == "a b.txt")\nreturn await asyncio.gather(*[asyncio.to_thread(lambda: os.path.getsize(file.path)) for _ in range(4)])',
    );
    expect(lengths).toEqual([5_000_003, 5_000_003, 5_000_003, 5_000_003]);
  });

  it('uses get_last_user_message_item', async () => {
    const { result } = await resultOf(
      'from open_webui.utils.misc import get_last_user_message_item, get_last_user_message, add_or_update_system_message',
      'messages = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}, {"role": "assistant", "content": "ho"}]\nreturn [get_last_user_message_item(messages)["role"], get_last_user_message(messages), add_or_update_system_message("be", messages)[0]]',
    );
    expect(result).toEqual(['user', 'hi', { role: 'system', content: 'be' }]);
  });

  it.each(['from open_webui.config import UPLOAD_DIR', 'from config import UPLOAD_DIR'])(
    'writes to the folder of: %s',
    async (line) => {
      const { result } = await resultOf(
        `import os\n${line}`,
        'path = os.path.join(UPLOAD_DIR, "a.txt")\nopen(path, "w").write("a")\nreturn open(f"{UPLOAD_DIR}/a.txt").read()',
      );
      expect(result).toBe('a');
    },
  );

  it('finds DATA_DIR in either module', async () => {
    const { result } = await resultOf(
      'import os\nfrom open_webui import env\nfrom open_webui.config import CACHE_DIR, DATA_DIR, UPLOAD_DIR',
      'return [env.DATA_DIR == DATA_DIR, {CACHE_DIR.parent, UPLOAD_DIR.parent} == {DATA_DIR}, os.access(DATA_DIR, os.W_OK)]',
    );
    expect(result).toEqual([true, true, true]);
  });

  it('reads SRC_LOG_LEVELS', async () => {
    const { result } = await resultOf(
      'import logging\nfrom open_webui.env import SRC_LOG_LEVELS\nlog = logging.getLogger(__name__)\nlog.setLevel(SRC_LOG_LEVELS["MODELS"])',
      'return log.level',
    );
    expect(result).toBe(20);
  });
});

describe('a call that is not offered fails with its name:', () => {
  it.each([
    [
      'from open_webui.models.chats import Chats',
      'Chats.get_chat_by_id("x")',
      'Chats.get_chat_by_id is not offered by this server',
    ],
    [
      'from open_webui.utils.chat import generate_chat_completion',
      'await generate_chat_completion(__request__, {}, __user__)',
      'generate_chat_completion is not offered',
    ],
    [
      'from open_webui.routers.images import image_generations, GenerateImageForm',
      'await image_generations(__request__, GenerateImageForm(prompt="x"), __user__)',
      'image_generations is not offered',
    ],
    [
      'from open_webui.models.users import Users',
      'Users.delete_user_by_id("x")',
      'Users.delete_user_by_id is not offered',
    ],
  ])('%s', async (line, use, words) => {
    const answer = await runTool(shop, toolOf(line, use));
    expect(answer).toMatchObject({ status: 422, body: { detail: expect.stringContaining(words) } });
  });
});
