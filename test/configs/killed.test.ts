import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { spawnMain } from '../support/process.ts';
import { call, PASSWORD } from '../support/server.ts';
import { LARGE_EXPORT } from './foreign.export.ts';

it('a server that is killed during imports restarts with one of them whole, and with its history', async () => {
  const database = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-killed-'));
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir };
  try {
    let answered = 0;
    for (let round = 0; round < 2; round += 1) {
      const server = spawnMain(env);
      const url = await server.ready();
      const credentials = { email: 'root@example.com', name: 'Root', password: PASSWORD };
      const { body: account } = await call(url, `POST /auths/${round === 0 ? 'signup' : 'signin'}`, {
        body: credentials,
      });
      const importing = async (mark: string) => {
        const body = { ...LARGE_EXPORT, webhook_url: `https://${mark}.example.com/`, mark };
        const { status } = await call(url, 'POST /configs/import?fill=defaults', {
          token: account.token,
          body,
        });
        expect(status).toBe(200);
        answered += 1;
      };
      const before = answered;
      // Interrupted imports fail for their callers.
      const imports = Array.from({ length: 12 }, (_, i) => importing(`round${round}-${i}`).catch(() => {}));
      await until('the first answers', () => answered >= before + 2);
      await server.stop('SIGKILL');
      await Promise.all(imports);

      // In one statement, because an import sent before the kill may still be committed.
      const [row] = await database.query<{
        revision: number;
        data: Record<string, unknown>;
        entries: number;
        told: number;
        same: boolean;
      }>(
        `select c.revision, c.data, h.data = c.data as same,
                (select count(*)::int from config_history where origin = 'import') as entries,
                (select count(*)::int from audit_entry where action = 'config.import') as told
           from config c join config_history h using (revision)`,
      );
      expect(row?.same).toBe(true);
      // Every answered import is stored; one more may be stored without an answer.
      expect(row?.entries).toBeGreaterThanOrEqual(answered);
      expect(row?.revision).toBe((row?.entries ?? 0) + 1);
      const { mark, webhook_url } = row?.data ?? {};
      expect(webhook_url).toBe(`https://${mark}.example.com/`);
      // The audit log has exactly these imports.
      expect(row?.told).toBe(row?.entries);
      answered = row?.entries ?? 0;
    }
    const last = spawnMain(env);
    const url = await last.ready();
    const { body } = await call(url, 'GET /config');
    expect(body.default_locale).toBe(LARGE_EXPORT.ui.default_locale);
    await last.stop();
  } finally {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}, 600_000);
