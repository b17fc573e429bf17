import { startChild } from '../support/child.ts';
import { compare, httpContender } from '../support/contenders.ts';
import type { Result } from '../support/report.ts';
import type { Workspace } from '../support/workspace.ts';

/**
 * An authenticated call without a statement, through the whole REST door, against a route of bare Fastify.
 */
export async function trivial(workspace: Workspace): Promise<Result[]> {
  const { parley, authorization, rounds } = workspace;
  const body = await parley.call('GET /users/permissions');
  const bare = await startChild<string>('baselines/fastify.ts', 'server', { body });
  try {
    return [
      await compare({
        what: 'trivial authenticated call (`GET /users/permissions`)',
        ours: httpContender(workspace, parley, {
          paths: ['/api/v1/users/permissions'],
          headers: authorization,
        }),
        baseline: httpContender(workspace, { url: bare.first, pid: bare.pid }, { paths: ['/'] }),
        against: 'bare Fastify',
        atLeast: 0.25,
        rounds,
      }),
    ];
  } finally {
    await bare.stop();
  }
}
