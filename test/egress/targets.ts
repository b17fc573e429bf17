import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgress, type Egress, type EgressOptions } from '../../src/egress/egress.ts';

interface Heard {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Target {
  port: number;
  /** The address of the server; `egressTo` finds it under every name. */
  url: string;
  heard: Heard[];
  close(): Promise<void>;
}

type Answer = (request: Heard, response: ServerResponse) => void;

/** Starts another server on this machine. */
export async function startTarget(
  answer: Answer = (_request, response) => response.end('ok'),
): Promise<Target> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
    heard.push(one);
    answer(one, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://target.example:${port}`,
    heard,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The egress of a test: every name leads to this machine, and only 127.0.0.1 may be connected to. */
export const egressToHere = (options: EgressOptions = {}): Egress =>
  createEgress({
    resolve: async () => ['127.0.0.1'],
    mayConnect: (address) => address === '127.0.0.1',
    ...options,
  });
