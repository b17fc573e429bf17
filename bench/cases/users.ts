import pg from 'pg';
import { startParley } from '../support/parley.ts';
import type { Result } from '../support/report.ts';
import type { Workspace } from '../support/workspace.ts';

const PEOPLE = 100_000;
const PAGE = 30;

/**
 * Reads a page of the list of accounts, at the beginning and at the end of very many, by cursor and by page
 * number.
 */
export async function users({ cluster, quick }: Workspace): Promise<Result[]> {
  const databaseUrl = await cluster.createDatabase('users');
  const parley = await startParley({ databaseUrl });
  try {
    await fill(databaseUrl);
    const results: Result[] = [];
    for (const order of ['created_at', 'name', 'email', 'role', 'last_active_at']) {
      const list = (query: string) =>
        parley.asAdministrator<{ next_cursor: string | null }>(
          `GET /users?order_by=${order}&direction=asc&${query}`,
        );
      // The last page is left out, so that both pages need the same work apart from their position.
      const { next_cursor: near } = await list('page=1');
      const { next_cursor: far } = await list(`page=${Math.floor(PEOPLE / PAGE) - 2}`);
      const pages = {
        'first page behind a cursor': `cursor=${near}`,
        'last page behind a cursor': `cursor=${far}`,
        'first page by number': 'page=1',
        'last page by number': `page=${Math.floor(PEOPLE / PAGE) - 1}`,
      };
      for (const [what, query] of Object.entries(pages)) {
        const times: number[] = [];
        for (let i = 0; i < (quick ? 10 : 200); i += 1) {
          const began = performance.now();
          await list(query);
          times.push(performance.now() - began);
        }
        times.sort((one, other) => one - other);
        results.push({
          what: `users by ${order}, ${what}, p50`,
          unit: 'ms',
          ours: times[times.length >> 1] ?? Number.NaN,
          baseline: null,
          ratio: null,
          target: null,
        });
      }
    }
    return results;
  } finally {
    await parley.stop();
  }
}

async function fill(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await client.query(
      `insert into users (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at)
       select gen_random_uuid(), i || '@people.org', 'Person ' || md5(i::text), 'user', '', 0, 0, 0
         from generate_series(1, ${PEOPLE}) i`,
    );
    await client.query('vacuum analyze users');
  } finally {
    await client.end();
  }
}
