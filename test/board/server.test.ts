import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkWeights, modelProcesses, withoutWeights } from '../support/board.ts';
import { grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { connectProvider, startProvider } from '../support/provider.ts';
import { type Person, signUpAll, startServer, type TestServer } from '../support/server.ts';

interface Readiness {
  ready: boolean;
  parts: Record<string, { state: string; detail: string }>;
}
const readiness = async ({ url }: { url: string }) =>
  (await fetch(`${url}/ready`).then((response) => response.json())) as Readiness;

const ENV = { EMBEDDED_MODEL: 'auto', PYTHON: '/dev/null' };

describe.skipIf(withoutWeights)('a server without providers', () => {
  let dataDir: string;
  let server: TestServer;
  let root: Person;
  let ann: Person;
  // Not beside the tests: that runs although they are skipped.
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
    await linkWeights(dataDir);
    server = await startServer({ dataDir, env: ENV });
    [root, ann] = await signUpAll(server, 'Root', 'Ann');
  });
  const idsFor = async (person: Person): Promise<string[]> => {
    const { body } = await server.as(person)('GET /models');
    return body.data.map(({ id }: { id: string }) => id);
  };
  afterAll(async () => {
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
    expect(await modelProcesses()).toEqual([]);
  });

  test('offers the model on board to every member, and starts it for the first mention', async () => {
    expect(await until('the model to be listed', async () => (await idsFor(ann))[0])).toBe('smollm2-135m');
    expect((await readiness(server)).parts.providers).toEqual({
      state: 'ok',
      detail: 'The model on board is ready.',
    });
    expect(await modelProcesses()).toEqual([]);

    const channelId = await makeChannel(server, root, grant(ann.id, 'write'));
    const at = `/channels/${channelId}/messages`;
    const { body: message } = await server.as(ann)(`POST ${at}/post`, {
      content: '@smollm2-135m Say hello.',
    });
    const reply = await until('the reply', async () => {
      const { body } = await server.as(ann)(`GET ${at}/${message.id}/thread`);
      return body.find(({ meta }: { meta: { done?: boolean } }) => meta.done);
    });
    expect(reply).toMatchObject({
      content: expect.stringMatching(/\w/),
      meta: { model_id: 'smollm2-135m', model_name: expect.stringContaining('demo') },
    });
    expect(reply.meta.error).toBeUndefined();
    expect(await modelProcesses()).toHaveLength(1);
  });

  test('offers it no more once a provider is connected', async () => {
    const provider = await startProvider('other');
    await connectProvider(server, root, provider);
    await until('the other model alone', async () => (await idsFor(root)).join() === 'other');
    await provider.close();
  });
});

test('a server that cannot fetch the model on board says so, and serves', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const server = await startServer({ dataDir, env: { ...ENV, LOG_LEVEL: 'silent' } });
  const providers = await until('the state', async () => {
    const { ready, parts } = await readiness(server);
    return ready && parts.providers?.state === 'degraded' ? parts.providers : undefined;
  });
  expect(providers.detail).toMatch(/^The model on board could not be fetched/);
  const [root] = await signUpAll(server, 'Root');
  expect((await server.as(root)('GET /models')).body.data).toEqual([]);
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});
