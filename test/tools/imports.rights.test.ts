import { afterAll, describe, expect, it } from 'vitest';
import { runTool, toolOf } from './published.ts';
import { openWorkshop } from './workshop.ts';

const shop = await openWorkshop();
afterAll(() => shop.close());
await shop.permit('chat.file_upload', true);

describe('a tool has the rights of its caller', () => {
  const LOOK = 'from open_webui.models.users import Users';

  it('reads other accounts only for an administrator', async () => {
    const look = toolOf(LOOK, `user = Users.get_user_by_id("${shop.author.id}")\nreturn user and user.name`);
    expect((await runTool(shop, look)).body.result).toBeNull();
    expect((await runTool(shop, look, {}, shop.admin)).body.result).toBe('Author');
    expect((await runTool(shop, look.replace(shop.author.id, 'no id'))).body.result).toBeNull();
  });

  it('reads only files that its caller may read', async () => {
    const uploaded = await runTool(
      shop,
      toolOf(
        'import io\nfrom fastapi import UploadFile\nfrom open_webui.routers.files import upload_file_handler',
        'return upload_file_handler(__request__, UploadFile(io.BytesIO(b"private"), filename="x.txt")).id',
      ),
    );
    const id = uploaded.body.result;
    const ask = toolOf(
      'from open_webui.models.files import Files, FileModel',
      `return Files.get_file_by_id("${id}") or open(FileModel(id="${id}", user_id="", filename="x").path).read()`,
    );
    const own = toolOf(
      'from open_webui.models.files import Files',
      `return open(Files.get_file_by_id("${id}").path).read()`,
    );
    expect((await runTool(shop, own)).body.result).toBe('private');
    for (const person of [shop.author, shop.writer]) {
      const { status, body } = await runTool(shop, ask, {}, person);
      expect([status, body.detail]).toEqual([422, expect.stringContaining('There is no such file.')]);
    }
  });

  it('cannot upload for another account', async () => {
    const { status, body } = await runTool(
      shop,
      toolOf(
        'import io\nfrom fastapi import UploadFile\nfrom open_webui.routers.files import upload_file_handler',
        `upload_file_handler(__request__, UploadFile(io.BytesIO(b"x"), filename="x"), user={"id": "${shop.admin.id}"})`,
      ),
    );
    expect([status, body.detail]).toEqual([422, expect.stringContaining('acts for the person who calls it')]);
  });

  it('uploads only for callers with the permission', async () => {
    await shop.permit('chat.file_upload', false);
    const upload = toolOf(
      'import io\nfrom fastapi import UploadFile\nfrom open_webui.routers.files import upload_file_handler',
      'return upload_file_handler(__request__, UploadFile(io.BytesIO(b"x"), filename="x")).id',
    );
    expect(await runTool(shop, upload)).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('permission') },
    });
    await shop.permit('chat.file_upload', true);
  });

  it('cannot get around the rules by calling the bridge itself', async () => {
    const ask = (operation: string, input: string) =>
      toolOf('import bridge', `return bridge.call(${operation}, **${input})`);
    for (const [operation, input, words] of [
      ['"users.get"', '{"id": 7}', 'does not have the expected shape: id: '],
      ['"files.upload"', '{"filename": "a/../b", "data": "***", "metadata": {}}', 'shape'],
      ['"files.upload"', '{"filename": "x", "data": "", "metadata": {"a": "\\0"}}', 'shape'],
      [
        '"files.upload"',
        '{"filename": "x" * 300, "data": "", "metadata": {}, "is_last": True}',
        'shape: filename: ',
      ],
      ['"files.upload.part"', '{"upload": 1, "data": "", "is_last": "no"}', 'shape: is_last: '],
      ['"constructor"', '{}', 'The server has no constructor'],
      ['"users.delete"', '{}', 'The server has no users.delete'],
      ['"files.get"', '{"id": "x" * 9_000_000}', 'bytes at once'],
      ['"files.read"', '{"id": "../../secret", "start": 0}', 'shape'],
      ['"files.read"', '{"id": __user__["id"], "start": -1}', 'shape'],
      ['"files.read"', '{"id": __user__["id"], "start": 0}', 'There is no such file'],
    ] as const) {
      expect(await runTool(shop, ask(operation, input))).toMatchObject({
        status: 422,
        body: { detail: expect.stringContaining(words) },
      });
    }
    const much = toolOf(LOOK, 'for _ in range(201): Users.get_user_by_id("x")');
    expect(await runTool(shop, much)).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('200 times') },
    });
  });

  it('has no rights while none of its functions runs', async () => {
    const answer = await shop.create('early', `${LOOK}\nUsers.get_user_by_id("x")\n${toolOf('', 'pass')}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('only while a function of the tool runs') },
    });
  });
});
