import { startRedis, withoutRedis } from '../../test/support/redis.ts';
import { startParley, startServer } from '../support/parley.ts';
import { plainResult, type Result } from '../support/report.ts';
import type { Workspace } from '../support/workspace.ts';

/**
 * Measures from sending an import to one process until the first answer of another process that follows it.
 */
export async function configuration({ cluster, quick }: Workspace): Promise<Result[]> {
  if (withoutRedis) return [];
  const redis = await startRedis();
  try {
    const databaseUrl = await cluster.createDatabase('configuration');
    const env = { REDIS_URL: redis.url, SECRET_KEY: 'of a bench that runs for a minute and no longer' };
    const one = await startParley({ databaseUrl, env });
    const other = await startServer({ databaseUrl, env });
    try {
      const exported = await one.asAdministrator<{ ui: object }>('GET /configs/export');
      const times: number[] = [];
      for (let i = 0; i < (quick ? 20 : 300); i += 1) {
        const default_locale = `locale-${i}`;
        const began = performance.now();
        const sent = one.asAdministrator('POST /configs/import', {
          ...exported,
          ui: { ...exported.ui, default_locale },
        });
        while ((await localeOf(other.url)) !== default_locale);
        times.push(performance.now() - began);
        await sent;
      }
      times.sort((one, other) => one - other);
      const at = (share: number) => times[Math.ceil(times.length * share) - 1] ?? Number.NaN;
      return [figure('p50', at(0.5)), figure('p99', at(0.99), 500)];
    } finally {
      await other.stop();
      await one.stop();
    }
  } finally {
    await redis.stop();
  }
}

async function localeOf(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/config`);
  const { default_locale } = (await response.json()) as { default_locale: string };
  return default_locale;
}

const figure = (what: string, ours: number, atMost?: number): Result =>
  plainResult(`configuration on another process, ${what}`, 'ms', ours, atMost);
