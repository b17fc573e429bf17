import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { signUp, signUpAs, startServer } from '../support/server.ts';
import { bearer, download, upload } from './forms.ts';

it('the start removes files of crashes and deleted accounts, and keeps files with a row and running uploads', async () => {
  const database = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const start = () => startServer({ database, dataDir, env: { PYTHON: '/dev/null' } });
  const folder = join(dataDir, 'uploads');
  let server = await start();
  try {
    const admin = await signUp(server, 'Admin');
    const leaver = await signUpAs(server, admin, 'Leaver', 'user');
    const kept = (await upload(server, admin, 'kept')).body.id;
    const orphan = (await upload(server, leaver, 'orphan')).body.id;
    await server.call(`DELETE /users/${leaver.id}`, { token: admin.token });
    await server.close();

    const unfinished = (end: number) => `019ab000-0000-7000-8000-00000000000${end}.part`;
    const made = [unfinished(1), unfinished(2), 'not-ours'];
    for (const name of made) await writeFile(join(folder, name), 'x');
    const old = new Date(Date.now() - 7_200_000);
    for (const name of [orphan, kept, unfinished(1), 'not-ours']) await utimes(join(folder, name), old, old);

    server = await start();
    await until('the sweep', async () => {
      const names = await readdir(folder);
      return !names.includes(orphan) && !names.includes(unfinished(1));
    });
    expect((await readdir(folder)).toSorted()).toEqual([kept, unfinished(2), 'not-ours'].toSorted());
    expect((await download(server, kept, bearer(admin))).bytes.toString()).toBe('kept');
  } finally {
    await server.close();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
