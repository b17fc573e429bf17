import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnMain } from '../support/process.ts';
import { call, PASSWORD } from '../support/server.ts';
import { run } from './run.ts';

let folder: string;
const dataDir = (name: string) => ({ DATA_DIR: join(folder, name) });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-embedded-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const signIn = (url: string) =>
  call(url, 'POST /auths/signin', { body: { email: 'ada@example.com', password: PASSWORD } });

describe('commands on the embedded database', () => {
  it('work before the first start, while the server runs and after it was killed, and restore elsewhere', async () => {
    const here = dataDir('here');
    const there = dataDir('there');
    const archive = join(folder, 'backup.tar.gz');
    const words = ['user', 'create', '--email=ada@example.com', '--name=Ada'];
    expect(await run(words, here, PASSWORD)).toMatchObject({ code: 0, stderr: '' });

    const server = spawnMain(here);
    const url = await server.ready();
    expect((await signIn(url)).body.role).toBe('admin');
    expect(await run(['backup', archive], here)).toMatchObject({ code: 0, stderr: '' });
    const refused = await run(['restore', archive, '--replace'], here);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('in use by another server') });
    expect((await signIn(url)).status).toBe(200);
    await server.stop('SIGKILL');

    // The command either uses the PostgreSQL that the server left running, or ends it.
    expect(await run(['config', 'explain', 'ui.watermark'], here)).toMatchObject({ code: 0, stderr: '' });

    expect(await run(['restore', archive], there)).toMatchObject({ code: 0, stderr: '' });
    const restored = spawnMain(there);
    expect((await signIn(await restored.ready())).body.role).toBe('admin');
    await restored.stop();
  });
});
