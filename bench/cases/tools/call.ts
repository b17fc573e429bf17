import type { Post } from '../../load/post.ts';
import { type Child, startChild } from '../../support/child.ts';
import type { Result } from '../../support/report.ts';
import { quantile } from '../../support/rounds.ts';
import type { Workspace } from '../../support/workspace.ts';

const CONTENT = `
class Tools:
    def add(self, a: int, b: int) -> int:
        """
        Add two numbers.
        :param a: one number
        :param b: the other number
        """
        return a + b
`;

/** Calls a function that does almost nothing, one call after the other, so that all the time is overhead. */
export async function callTool({ parley, authorization, quick }: Workspace): Promise<Result[]> {
  const everyone = { principal_type: 'user', principal_id: '*', permission: 'read' };
  const tool = { id: 'bench', name: 'Bench', content: CONTENT, meta: {}, access_grants: [everyone] };
  await parley.asAdministrator('POST /tools/create', tool);
  const body = JSON.stringify({ function: 'add', arguments: { a: 1, b: 2 } });
  const bare = await startChild<string>('baselines/python.ts', 'server', null);
  const headers = { 'content-type': 'application/json' };
  const client = (target: Post) => startChild('load/latency.ts', 'load', target);
  const ours = await client({
    url: `${parley.url}/api/v1/tools/id/bench/call`,
    headers: { ...headers, ...authorization },
    body,
  });
  const baseline = await client({ url: bare.first, headers, body });
  try {
    const [calls, rounds] = quick ? [100, 2] : [400, 5];
    const times = { ours: [] as number[], baseline: [] as number[] };
    await ours.ask({ calls });
    await baseline.ask({ calls });
    for (let round = 0; round < rounds; round += 1) {
      times.ours.push(...(await measure(ours, calls)));
      times.baseline.push(...(await measure(baseline, calls)));
    }
    return [resultAt(0.5, 'p50', times, { atMost: 2 }), resultAt(0.99, 'p99', times, { atMost: 10 })];
  } finally {
    for (const child of [ours, baseline, bare]) await child.stop();
  }
}

const measure = (client: Child<unknown>, calls: number) => client.ask<number[]>({ calls });

function resultAt(
  share: number,
  name: string,
  times: { ours: number[]; baseline: number[] },
  target: Result['target'],
): Result {
  const ours = quantile(times.ours, share);
  const figure = quantile(times.baseline, share);
  return {
    what: `call of a warm tool, ${name}`,
    unit: 'ms',
    ours,
    baseline: { what: '`node:http` + a line to Python', figure },
    ratio: ours / figure,
    target,
  };
}
