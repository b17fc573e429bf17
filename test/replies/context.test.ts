import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { startTestPython, toolOf } from '../support/python.ts';
import { signIn } from '../support/server.ts';
import { configure, listen, of, openDesk } from './desk.ts';

const python = await startTestPython();
const desk = await openDesk(['small'], { python });
const { provider, root, ann, bob, server, channelId } = desk;
afterAll(async () => {
  await desk.close();
  await python.close();
});
beforeEach(() => provider.script((_request, wire) => wire.say('Yes.')));

const at = `/channels/${channelId}/messages`;
// biome-ignore lint/suspicious/noExplicitAny: a request as the provider got it
const lastMessages = (): any[] => provider.chats().at(-1)?.body.messages ?? [];

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function upload(bytes: Buffer, name: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), name);
  const headers = { authorization: `Bearer ${ann.token}` };
  const answer = await fetch(`${server.url}/api/v1/files/`, { method: 'POST', headers, body: form });
  return ((await answer.json()) as { id: string }).id;
}

/** Items of `data.files` for new files of Ann. */
const attach = (files: [Buffer, string][]) =>
  Promise.all(
    files.map(async ([bytes, name]) => ({
      type: 'image',
      url: `/api/v1/files/${await upload(bytes, name)}/content`,
    })),
  );

/** The reply of a model that hears only a message with these files. */
async function askInThread(files: object[]) {
  const { id } = await desk.post('Pictures');
  await desk.post('@small What is it?', { parent_id: id, data: { files } });
  const [reply] = await desk.answers(id);
  return reply;
}

const pictureOf = (part: { image_url: { url: string } }) =>
  Buffer.from(part.image_url.url.split(',')[1] ?? '', 'base64');

/** A model over `small` that all members may read. */
async function makeModel(id: string, meta: object): Promise<void> {
  const grants = [{ principal_type: 'user', principal_id: '*', permission: 'read' }];
  const record = { id, name: `The ${id}`, base_model_id: 'small', params: {}, meta, access_grants: grants };
  const { status, body } = await server.as(root)('POST /models/create', record);
  if (status !== 200) throw new Error(`The model was refused: ${JSON.stringify(body)}`);
}

describe('a model gets', () => {
  it('the images and text files of the thread, from the files of this server alone', async () => {
    const [picture, notes] = [await upload(PNG, 'dot.png'), await upload(Buffer.from('plum'), 'notes.txt')];
    const files = [
      { type: 'image', url: `/api/v1/files/${picture}/content` },
      { type: 'file', id: notes },
      { type: 'link', url: 'https://example.com/spy.png' },
    ];
    const { id } = await desk.post('See these', { data: { files } });
    await desk.post('@small What is it?', { parent_id: id }, bob);
    await desk.answers(id);
    expect(lastMessages()[1].content).toEqual([
      {
        type: 'text',
        text: 'Ann: See these\n\n[File notes.txt]\nplum\n[End of notes.txt]\n\nBob: @small What is it?',
      },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } },
    ]);
  });

  it('images that are scaled, upright and still, as every provider reads them', async () => {
    await configure(server, root, ({ channels }) => Object.assign(channels, { model_image_side: 100 }));
    const noise = { create: { width: 400, height: 200, channels: 3, background: 'red' } } as const;
    const upright = await sharp(noise).jpeg().withMetadata({ orientation: 6 }).toBuffer();
    const frames = [sharp(noise), sharp(noise).negate()].map((frame) => frame.png().toBuffer());
    const animated = await sharp(await Promise.all(frames), { join: { animated: true } })
      .gif()
      .toBuffer();
    const transparent = await sharp({ create: { ...noise.create, channels: 4, background: '#0000' } })
      .webp()
      .toBuffer();
    const pictures = [upright, animated, transparent];
    const files = await attach(pictures.map((bytes, n) => [bytes, `${n}`]));
    const reply = await askInThread(files);
    expect(reply.meta.context).toBeUndefined();
    const sent = lastMessages().at(-1).content.slice(1).map(pictureOf);
    const seen = await Promise.all(sent.map((bytes: Buffer) => sharp(bytes).metadata()));
    expect(
      seen.map(({ format, width, height, orientation, pages }) => [
        format,
        width,
        height,
        orientation,
        pages,
      ]),
    ).toEqual([
      ['jpeg', 50, 100, undefined, undefined],
      ['png', 100, 50, undefined, undefined],
      ['png', 100, 50, undefined, undefined],
    ]);
    await configure(server, root, ({ channels }) => Object.assign(channels, { model_image_side: undefined }));
  });

  it('no image that cannot be read, and the reply says so', async () => {
    const whole = await sharp({ create: { width: 300, height: 300, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const bomb = Buffer.from(PNG);
    bomb.writeUInt32BE(16_000, 16);
    bomb.writeUInt32BE(16_000, 20);
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="/etc/passwd"/></svg>';
    const files = [
      ...(await attach([
        [whole.subarray(0, 200), 'cut.png'],
        [bomb, 'bomb.png'],
      ])),
      { type: 'image', url: `data:image/png;base64,${Buffer.from(svg).toString('base64')}` },
      { type: 'image', url: 'data:image/png;base64,AAAA' },
    ];
    const reply = await askInThread(files);
    expect(reply.content).toBe('Yes.');
    expect(reply.meta.context).toEqual({ images_left_out: 4 });
  });

  it('no image after sixteen that cannot be read', async () => {
    const broken = { type: 'image', url: 'data:image/png;base64,AAAA' };
    const whole = { type: 'image', url: `data:image/png;base64,${PNG.toString('base64')}` };
    const sixteen = Array.from({ length: 16 }, () => broken);
    const reply = await askInThread([...sixteen, whole]);
    expect(reply.meta.context).toEqual({ images_left_out: 17 });
    const other = await askInThread([...sixteen.slice(1), whole]);
    expect(other.meta.context).toEqual({ images_left_out: 15 });
  });

  it('no images where it cannot see, and the reply says so', async () => {
    await makeModel('blind', { capabilities: { vision: false } });
    const files = [{ type: 'image', url: `/api/v1/files/${await upload(PNG, 'dot.png')}/content` }];
    const { id } = await desk.post('@blind What is it?', { data: { files } });
    const [reply] = await desk.answers(id);
    expect(reply.meta).toMatchObject({ model_name: 'The blind', context: { images_left_out: 2 } });
    expect(lastMessages().at(-1).content).toMatch(/\n\nWhat is it\?$/);
  });

  it('what its window holds: the root, and the newest messages', async () => {
    const { id } = await desk.post('The root');
    for (let n = 0; n < 12; n += 1) await desk.post(`Message ${n} ${'x'.repeat(200)}`, { parent_id: id });
    await desk.post('@narrow And the end', { parent_id: id });
    const [reply] = await desk.answers(id);
    const leftOut = reply.meta.context.messages_left_out;
    expect(leftOut).toBeGreaterThan(5);
    const { content } = lastMessages().at(-1);
    expect(content).toMatch(/^The root\n\nMessage (\d+) x/);
    expect(content).toContain('Message 11 ');
    expect(content).not.toContain(`Message ${leftOut - 1} `);
    expect(content).toMatch(/\n\nAnd the end$/);
    expect(Buffer.byteLength(content)).toBeLessThan(600 * 3);
  });

  it('the beginning of a message that is too long alone', async () => {
    const { id } = await desk.post(`@narrow ${'long '.repeat(2_000)}`);
    const [reply] = await desk.answers(id);
    expect(reply.meta.done).toBe(true);
    expect(JSON.stringify(lastMessages().at(-1))).toMatch(/"long .* \[…\]"/);
  });

  it('at most the root and 50 messages of a thread', async () => {
    const { id } = await desk.post('The root');
    for (let n = 0; n < 55; n += 1) await desk.post(`n${n}.`, { parent_id: id });
    await desk.post('@small', { parent_id: id });
    await desk.answers(id);
    const said = lastMessages().at(-1).content.split('\n\n');
    expect(said[0]).toBe('The root');
    expect(said[1]).toBe('n6.');
    expect(said).toHaveLength(51);
  });
});

describe('a model with tools', () => {
  it('calls them as the person; clients see each call, its result, and the files that it made', async () => {
    const source = toolOf(
      `
    async def look(self, city: str, __user__: dict, __event_emitter__=None, __chat_id__: str = "") -> str:
        """Looks at a city."""
        await __event_emitter__({"type": "status", "data": {"description": f"Looking at {city}", "done": False}})
        await asyncio.sleep(0.5)
        await __event_emitter__({"type": "files", "data": {"files": [{"type": "image", "url": "data:image/png;base64,AAAA"}]}})
        return f"{city} for {__user__['name']} in {__chat_id__[:8]}"
`,
      'import asyncio',
    );
    const grants = [{ principal_type: 'user', principal_id: '*', permission: 'read' }];
    const made = await server.as(root)('POST /tools/create', {
      ...{ id: 'look', name: 'Look', content: source, meta: { description: '' }, access_grants: grants },
    });
    expect(made.status).toBe(200);
    await makeModel('handy', { toolIds: ['look'] });
    provider.script((request, wire) => {
      const results = request.body.messages.filter(({ role }: { role: string }) => role === 'tool');
      wire.delta({
        content: results.length === 0 ? '<think>Where?</think>I look.' : '<think>Ah</think>Seen.',
      });
      if (results.length > 0) wire.finish();
      else wire.call({ name: 'look', arguments: { city: 'Rome' } });
    });
    const ear = await listen(server, bob);
    const { id } = await desk.post('@handy look');
    const [reply] = await desk.answers(id);
    expect(reply.content).toBe('I look.\n\nSeen.');
    expect(reply.data).toMatchObject({
      reasoning: 'Where?Ah',
      tool_calls: [
        {
          tool_id: 'look',
          name: 'look',
          arguments: '{"city":"Rome"}',
          status: 'done',
          statuses: ['Looking at Rome'],
          result: 'Rome for Ann in channel:',
        },
      ],
      files: [{ type: 'image', url: 'data:image/png;base64,AAAA' }],
    });
    const seen = of(ear.heard, reply.id).flatMap(({ data }) => data.data.tool_calls ?? []);
    // An event may come before the first status.
    const running = { name: 'look', status: 'running', statuses: ['Looking at Rome'] };
    expect(seen).toContainEqual(expect.objectContaining(running));
    ear.close();
  });
});

describe('a reply runs with the rights that its person has now', () => {
  it('and ends when the account waits for approval again', async () => {
    provider.script((_request, wire) => wire.delta({ content: 'So far' }));
    const before = provider.chats().length;
    const { id } = await desk.post('@small', {}, bob);
    const chat = await until('the call', () => provider.chats()[before]);
    await until('the first words', async () => (await desk.replies(id))[0].content);
    await server.as(root)(`POST /users/${bob.id}/update`, { role: 'pending' });
    await chat.closed;
    const [reply] = await desk.answers(id);
    expect(reply).toMatchObject({ content: 'So far', meta: { error: { code: 'reply_not_allowed' } } });
    await server.as(root)(`POST /users/${bob.id}/update`, { role: 'user' });
    Object.assign(bob, await signIn(server, bob));
  });

  it('and with the restrictions of the API key that called the model', async () => {
    const { body: config } = await server.as(root)('GET /configs/export');
    config.auth.enable_api_keys = true;
    config.user.permissions.features.api_keys = true;
    await server.as(root)('POST /configs/import', config);
    const { body: key } = await server.as(ann)('POST /auths/api_keys', {
      name: 'bot',
      allowed_endpoints: ['/api/channels'],
    });
    provider.script((_request, wire) => wire.delta({ content: 'So far' }));
    const before = provider.chats().length;
    const { id } = await desk.post('@small', {}, { token: key.api_key ?? key.key });
    const chat = await until('the call', () => provider.chats()[before]);
    await until('the first words', async () => (await desk.replies(id))[0].content);
    await server.as(ann)(`DELETE /auths/api_keys/${key.id}`);
    await chat.closed;
    const [reply] = await desk.answers(id);
    expect(reply.meta.error.code).toBe('reply_not_allowed');
  });

  it('and ends with the account', async () => {
    provider.script((_request, wire) => wire.delta({ content: 'So far' }));
    const before = provider.chats().length;
    const { id } = await desk.post('@small', {}, bob);
    const chat = await until('the call', () => provider.chats()[before]);
    await until('the first words', async () => (await desk.replies(id))[0].content);
    await server.as(root)(`DELETE /users/${bob.id}`);
    await chat.closed;
    const [reply] = await desk.answers(id);
    expect(reply).toMatchObject({ user: null, meta: { error: { code: 'reply_not_allowed' } } });
    expect((await server.as(root)(`GET ${at}/${id}`)).status).toBe(200);
  });
});
