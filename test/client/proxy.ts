import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between client and server that a test can cut. */
export interface CuttableProxy {
  url: string;
  /** Breaks every connection at once, like a lost network. */
  cut(): void;
  /** Breaks each connection after this number of further bytes from the server, mostly within a frame. */
  cutAfter(bytes: number): void;
  /** When false, new connections are refused. */
  accepting: boolean;
  /** The number of connections so far. */
  accepted: number;
  close(): Promise<void>;
}

export async function startProxy(target: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let budget = Number.POSITIVE_INFINITY;

  const server = createServer((near) => {
    if (!proxy.accepting) return near.destroy();
    proxy.accepted += 1;
    const far = connect(Number(port), hostname);
    const cut = () => {
      near.resetAndDestroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    near.pipe(far);
    far.on('data', (chunk) => {
      near.write(chunk.subarray(0, budget));
      budget -= chunk.length;
      if (budget > 0) return;
      budget = Number.POSITIVE_INFINITY;
      // Data that was written is sent first.
      near.end(cut);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const proxy: CuttableProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepting: true,
    accepted: 0,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    cutAfter(bytes) {
      budget = bytes;
    },
    close() {
      proxy.cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}
