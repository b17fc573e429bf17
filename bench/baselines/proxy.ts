import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { childOptions, ready } from '../support/childSide.ts';

/** A bare proxy: every request goes to the same provider, and the bytes of its answer come back unread. */
const { provider } = childOptions<{ provider: string }>();

const server = createServer((incoming, response) => {
  const { method, headers } = incoming;
  const asked = request(`${provider}/chat/completions`, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  incoming.pipe(asked);
});
server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
