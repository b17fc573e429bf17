import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/**
 * A connection between a server under test and a service that it needs, which can fail in the ways of
 * networks.
 */
export interface Proxy {
  port: number;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Keeps all connections, accepts new ones, and forwards nothing. */
  hang(): void;
  /** Existing connections never forward anything again; new ones work. */
  strand(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Forwards TCP connections of a free port. */
export async function startProxy(to: NetConnectOpts): Promise<Proxy> {
  const sides = new Set<Socket>();
  const held = new Set<Socket>();
  let state: 'forwards' | 'cut' | 'hangs' = 'forwards';
  const server = createServer((client) => {
    if (state === 'cut') return client.destroy();
    const target = connect(to);
    for (const [side, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sides.add(side);
      side.on('error', () => {});
      side.on('close', () => {
        sides.delete(side);
        other.destroy();
      });
      side.on('data', (data) => void other.write(data));
      if (state === 'hangs') side.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut';
      for (const side of sides) side.destroy();
    },
    hang() {
      state = 'hangs';
      for (const side of sides) side.pause();
    },
    strand() {
      for (const side of sides) held.add(side.pause());
    },
    restore() {
      state = 'forwards';
      for (const side of sides) if (!held.has(side)) side.resume();
    },
    async close() {
      server.close();
      for (const side of sides) side.destroy();
    },
  };
}

/** The same for a PostgreSQL with the URL of a database. Returns the URL through the proxy, too. */
export async function proxyDatabase(url: string): Promise<Proxy & { url: string }> {
  const direct = new URL(url);
  const folder = direct.searchParams.get('host');
  const port = direct.searchParams.get('port') ?? direct.port;
  const proxy = await startProxy(
    folder ? { path: `${folder}/.s.PGSQL.${port}` } : { host: direct.hostname, port: Number(port) },
  );
  direct.search = '';
  direct.host = `127.0.0.1:${proxy.port}`;
  return { ...proxy, url: direct.href };
}
