import { urlOf } from '../support/database.ts';
import { startParley } from '../support/parley.ts';
import type { Result } from '../support/report.ts';
import { countRoundTrips } from '../support/roundTrips.ts';
import { CONTENT, createChannel, type Workspace } from '../support/workspace.ts';

/** Counts on the wire how often the server waits for PostgreSQL in a call of a warm session. */
export async function statements({ cluster }: Workspace): Promise<Result[]> {
  await cluster.createDatabase('statements');
  const counter = await countRoundTrips(cluster.address);
  const parley = await startParley({
    databaseUrl: urlOf({ ...cluster.address, host: counter.host }, 'statements'),
  });
  /** The minimum of several calls, since the server sometimes runs statements of its own. */
  const measure = async (what: string, atMost: number, request: string, body?: unknown): Promise<Result> => {
    const counts: number[] = [];
    for (let call = 0; call < 10; call += 1) {
      const before = counter.count();
      await parley.call(request, body);
      counts.push(counter.count() - before);
    }
    const ours = Math.min(...counts);
    return { what, unit: 'round trips', ours, baseline: null, ratio: null, target: { atMost } };
  };
  try {
    const channel = `/channels/${await createChannel(parley)}/messages`;
    return [
      await measure('statements: authenticate a warm session', 0, 'GET /users/permissions'),
      await measure('statements: list messages', 1, `GET ${channel}`),
      await measure('statements: post a message', 3, `POST ${channel}/post`, { content: CONTENT }),
    ];
  } finally {
    await parley.stop();
    await counter.stop();
  }
}
