import { setTimeout as delay } from 'node:timers/promises';
import { freePort, type ServerProcess, spawnMain } from '../../test/support/process.ts';
import { type Proxy as Link, startProxy } from '../../test/support/proxy.ts';

/** One server process at a fixed address, which is started again whenever it ends. */
export interface Server {
  /** The address of the process. */
  url: string;
  /** The address through the proxy that faults cut; the same without proxies. */
  publicUrl: string;
  clients: Link | undefined;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  /** How often it was started. */
  lives(): number;
  isReady(): boolean;
  /** Ends it like `kill -9`. It is started again after the pause. */
  kill(pauseMs?: number): Promise<void>;
  /** Resolves when it serves. */
  untilReady(): Promise<void>;
  /** How it ended when no fault ended it, with the end of its output. */
  unexpectedEnds: string[];
  stop(): Promise<void>;
}

export interface ServerOptions {
  env: Record<string, string>;
  /** The file to run. */
  main: string;
  isProxied: boolean;
}

const LAST_CHARACTERS = 2_000;

export async function startServer({ env, main, isProxied }: ServerOptions): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const clients = isProxied ? await startProxy({ host: '127.0.0.1', port }) : undefined;
  let current: ServerProcess | undefined;
  let lives = 0;
  let isReady = false;
  let isStopped = false;
  let pauseMs = 0;
  const killed = new Set<ServerProcess>();
  const unexpectedEnds: string[] = [];

  async function live(): Promise<void> {
    const server = spawnMain({ PORT: `${port}`, ...env }, { main });
    current = server;
    lives += 1;
    const ready = server.ready().then(
      () => {
        isReady = current === server;
      },
      // The end is noted below.
      () => {},
    );
    const { code, signal } = await server.ended();
    await ready;
    current = undefined;
    isReady = false;
    const output = `${server.output.stdout}${server.output.stderr}`;
    if (!killed.delete(server) && !isStopped)
      unexpectedEnds.push(`code ${code}, signal ${signal}: ${output.slice(-LAST_CHARACTERS)}`);
  }
  /** Starts it again as a service manager does. */
  async function supervise(): Promise<void> {
    while (!isStopped) {
      await live();
      await delay(pauseMs);
      pauseMs = 200;
    }
  }
  const supervised = supervise();
  let wasReady = false;
  const untilReady = async () => {
    while (!isReady) {
      // A first start that fails will fail again.
      if (!wasReady && unexpectedEnds.length > 0) throw new Error(unexpectedEnds[0]);
      await delay(20);
    }
    wasReady = true;
  };
  return {
    url,
    publicUrl: clients ? `http://127.0.0.1:${clients.port}` : url,
    clients,
    pid: () => current?.child.pid,
    lives: () => lives,
    isReady: () => isReady,
    untilReady,
    async kill(pause = 0) {
      pauseMs = pause;
      if (!current) return;
      isReady = false;
      killed.add(current);
      await current.stop('SIGKILL');
    },
    unexpectedEnds,
    async stop() {
      isStopped = true;
      await current?.stop('SIGKILL');
      await supervised;
      await clients?.close();
    },
  };
}
