import { execFile } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { signUp, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());
const ada = await signUp(server, 'Ada');

/** Runs a program with `client` that must end by itself. Fails when it does not within two minutes. */
async function run(url: string, program: string) {
  const source = `
    import { createClient } from ${JSON.stringify(new URL('../../client/src/index.ts', import.meta.url).href)};
    const client = createClient(${JSON.stringify({ url, token: ada.token })});
    ${program}`;
  const options = { timeout: 120_000 };
  return promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source], options);
}

test('ends a program by itself after close, without warnings', async () => {
  const { stdout, stderr } = await run(
    server.url,
    `const channel = await client.api.channels.create.mutate({ name: 'general' });
    await Promise.all(Array.from({ length: 30 }, () => client.api.channels.list.query()));
    let seen;
    const event = new Promise((resolve) => { seen = resolve; });
    const subscriptions = Array.from({ length: 15 }, () => client.events({ onEvent: seen }));
    await Promise.all(subscriptions.map(({ ready }) => ready));
    await client.api.messages.post.mutate({ id: channel.id, content: 'hello' });
    console.log((await event).data.data.content);
    await client.close();`,
  );
  expect({ stdout, stderr }).toEqual({ stdout: 'hello\n', stderr: '' });
});

test('ends a program by itself after close while the server is away', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const { stdout, stderr } = await run(
    `http://127.0.0.1:${port}`,
    `const tried = (lastEventId) => new Promise((resolve) => {
      let tries = 0;
      client.events({
        lastEventId,
        onEvent: () => {},
        onState: (state) => { tries += 1; if (tries === 4) resolve(); },
      });
    });
    // One waits for a place to start from, the other for its socket.
    await Promise.all([tried(undefined), tried('1')]);
    await client.close();
    console.log('closed');`,
  );
  expect({ stdout, stderr }).toEqual({ stdout: 'closed\n', stderr: '' });
});
