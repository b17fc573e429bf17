import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RoundTripCounter {
  /** The folder of the socket for a client, in place of that of the database. */
  host: string;
  /**
   * Round trips since the start: each is a `Sync` or a simple `Query`, after which a client waits for its
   * answer.
   */
  count(): number;
  stop(): Promise<void>;
}

const SYNC = 'S'.charCodeAt(0);
const QUERY = 'Q'.charCodeAt(0);

/**
 * A proxy between the server and PostgreSQL that counts how often the server waits, by the wire protocol
 * (version 3).
 */
export async function countRoundTrips(database: { host: string; port: number }): Promise<RoundTripCounter> {
  const host = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  const name = `.s.PGSQL.${database.port}`;
  const open = new Set<Socket>();
  let count = 0;
  const proxy = createServer((client) => {
    const server = connect(join(database.host, name));
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
    }
    const look = messageReader((type) => {
      if (type === SYNC || type === QUERY) count += 1;
    });
    client.on('data', look);
    client.pipe(server).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(join(host, name), resolve));
  return {
    host,
    count: () => count,
    async stop() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
      await rm(host, { recursive: true, force: true });
    },
  };
}

/** Calls back with the type of each message of a client; its first message has none. */
function messageReader(onMessage: (type: number) => void): (data: Buffer) => void {
  let pending = Buffer.alloc(0);
  let typeBytes = 0;
  return (data) => {
    pending = Buffer.concat([pending, data]);
    while (pending.length >= typeBytes + 4) {
      const length = typeBytes + pending.readInt32BE(typeBytes);
      if (pending.length < length) return;
      if (typeBytes === 1) onMessage(pending[0] ?? 0);
      typeBytes = 1;
      pending = pending.subarray(length);
    }
  };
}
