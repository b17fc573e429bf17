import autocannon from 'autocannon';
import { ready } from '../support/childSide.ts';

export interface HttpLoad {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Each connection requests one path: the first connection the first path and so on, in a circle. */
  paths: string[];
  connections: number;
  seconds: number;
}

export interface HttpLoadResult {
  operations: number;
  seconds: number;
}

/**
 * Sends requests as fast as the answers come. An answer other than 2xx fails the run, since refusing is fast.
 */
async function run({ paths, seconds, ...load }: HttpLoad): Promise<HttpLoadResult> {
  const { method, headers, body } = load;
  let opened = 0;
  const result = await autocannon({
    ...load,
    duration: seconds,
    setupClient(client) {
      const path = paths[opened % paths.length] ?? '/';
      opened += 1;
      client.setRequests([{ method, path, headers, ...(body !== undefined && { body }) }]);
    },
  });
  const failures = result.non2xx + result.errors + result.timeouts;
  if (failures > 0) throw new Error(`${failures} requests to ${load.url}${paths[0]} failed.`);
  return { operations: result['2xx'], seconds: result.duration };
}

ready<HttpLoad>('ready', run);
