import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { childOptions, ready } from '../support/childSide.ts';

/** Several providers of models at one address: `/<number>/v1/models` lists those of one. A dead one accepts requests and never answers. */
const { models } = childOptions<{ models: number }>();
const dead = new Set<number>();

const listOf = (provider: number) =>
  Array.from({ length: models }, (_, index) => ({
    id: `vendor-${provider}/model-${index}`,
    object: 'model',
    created: 1,
    owned_by: `vendor-${provider}`,
  }));

const server = createServer((request, response) => {
  const provider = Number(/^\/(\d+)\/v1\/models/.exec(request.url ?? '')?.[1]);
  if (dead.has(provider)) return;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', data: listOf(provider) }));
});
server.listen(0, '127.0.0.1', () => {
  ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async (killed: { dead: number }) => {
    dead.add(killed.dead);
    return dead.size;
  });
});
