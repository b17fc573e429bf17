import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { spawnMain } from '../support/process.ts';
import { call, PASSWORD } from '../support/server.ts';

it('the address of a webhook is in no log after any failure', async () => {
  const database = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const server = spawnMain({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'trace' });
  try {
    const url = await server.ready();
    const body = { email: 'root@example.com', name: 'Root', password: PASSWORD };
    const { token } = (await call(url, 'POST /auths/signup', { body })).body;
    const as = (request: string, content?: unknown) =>
      call(url, request, { token, ...(content !== undefined && { body: content }) });
    const channel = (await as('POST /channels/create', { name: 'logged' })).body;
    const hook = (await as(`POST /channels/${channel.id}/webhooks/create`, { name: 'x' })).body;
    const address = `POST /channels/webhooks/${hook.id}/${hook.token}`;
    expect((await call(url, address, { body: { content: 'a' } })).status).toBe(200);
    expect((await call(url, address, { body: { content: 7 } })).status).toBe(400);
    expect((await call(url, `${address}x`, { body: { content: 'a' } })).status).toBe(401);
    // The worst case: the target of the address fails.
    await database.query('alter table channel_webhook rename to channel_webhook_away');
    const failure = await call(url, address, { body: { content: 'a' } });
    expect([failure.status, failure.body.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(failure.body)).not.toContain(hook.token);
    await until('the log', () => server.output.stderr.includes('request failed'));
    expect(server.output.stderr + server.output.stdout).not.toContain(hook.token);
  } finally {
    await server.stop();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
