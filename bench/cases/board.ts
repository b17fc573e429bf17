import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linkWeights, shareWeights } from '../../test/support/board.ts';
import { until } from '../../test/support/poll.ts';
import { linkEnvironment } from '../../test/support/python.ts';
import { startParley } from '../support/parley.ts';
import { descendants, residentMemory } from '../support/processes.ts';
import { plainResult, type Result } from '../support/report.ts';

/** From `node src/main.ts` with an empty database to the first answer of the model on board. Packages are fetched before. */
export async function board(): Promise<Result[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  await shareWeights();
  await Promise.all([linkWeights(dataDir), linkEnvironment(dataDir)]);
  const began = performance.now();
  // A new checkout has no compiled code.
  const env = { EMBEDDED_MODEL: 'auto', NODE_DISABLE_COMPILE_CACHE: '1' };
  const parley = await startParley({ dataDir, env, isAlone: true });
  try {
    const { id: channel } = await parley.asAdministrator<{ id: string }>('POST /channels/create', {
      name: 'hello',
    });
    const at = `/channels/${channel}/messages`;
    const content = '@smollm2-135m Say hello.';
    const { id } = await parley.asAdministrator<{ id: string }>(`POST ${at}/post`, { content });
    await until('the answer', async () => {
      const replies = await parley.asAdministrator<{ meta: { done?: boolean } }[]>(`GET ${at}/${id}/thread`);
      return replies.some(({ meta }) => meta.done);
    });
    const seconds = (performance.now() - began) / 1000;
    const model = descendants(parley.pid).find(({ name }) => !/^(postgres|python)/.test(name));
    return [
      plainResult('first start to the first answer of the model on board', 's', seconds, 10),
      ...(model
        ? [plainResult('memory: model on board, after an answer', 'MB', residentMemory(model.pid).now)]
        : []),
    ];
  } finally {
    await parley.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
