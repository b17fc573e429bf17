import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { WebSocket } from 'ws';
import type { Limits, Python } from '../../src/python/pool.ts';
import type { AppRouter } from '../../src/router.ts';
import { grant } from '../support/channels.ts';
import { startTestPython } from '../support/python.ts';
import {
  type Answer,
  type Person,
  type ServerOptions,
  signUp,
  signUpAs,
  startServer,
  type TestServer,
} from '../support/server.ts';

/** A server, and users with every relation to the tools of `author`. `limits`: as of `startTestPython`. */
export interface Workshop {
  python: Python;
  server: TestServer;
  admin: Person;
  author: Person;
  writer: Person;
  reader: Person;
  stranger: Person;
  /** Stores a tool of the author, and grants access to `reader` and `writer`. */
  create(id: string, content: string): Promise<Answer>;
  /** A request about a tool: `as(person, 'GET', 'dice/valves')`. */
  as(person: Person | null, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Changes the configuration of the server. */
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape of its part
  configure(change: (config: any) => void): Promise<void>;
  /** Gives a permission to every member, or takes it. */
  permit(permission: `${string}.${string}`, allowed: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function openWorkshop(limits?: Partial<Limits>, options: ServerOptions = {}): Promise<Workshop> {
  const python = await startTestPython(limits);
  const server = await startServer({ ...options, python });
  const admin = await signUp(server, 'Admin');
  const [author, writer, reader, stranger] = await Promise.all([
    signUpAs(server, admin, 'Author', 'user'),
    signUpAs(server, admin, 'Writer', 'user'),
    signUpAs(server, admin, 'Reader', 'user'),
    signUpAs(server, admin, 'Stranger', 'user'),
  ]);
  const workshop: Workshop = {
    python,
    server,
    admin,
    author,
    writer,
    reader,
    stranger,
    create: (id, content) =>
      server.call('POST /tools/create', {
        token: author.token,
        body: {
          id,
          name: id,
          content,
          meta: {},
          access_grants: [grant(reader.id, 'read'), grant(writer.id, 'write')],
        },
      }),
    as: (person, method, path, body) =>
      server.call(`${method} /tools/id/${path}`, { token: person?.token, body }),
    async configure(change) {
      const { body: config } = await server.call('GET /configs/export?secrets=true', { token: admin.token });
      change(config);
      const { status } = await server.call('POST /configs/import', { token: admin.token, body: config });
      if (status !== 200) throw new Error(`The configuration was refused with ${status}.`);
    },
    permit(permission, allowed) {
      const [section = '', leaf = ''] = permission.split('.');
      return workshop.configure(({ user: { permissions } }) => {
        permissions[section] = { ...permissions[section], [leaf]: allowed };
      });
    },
    async close() {
      await server.close();
      await python.close();
    },
  };
  await workshop.permit('workspace.tools', true);
  return workshop;
}

/** A typed client on a new socket. */
export function openSocket(url: string, token: string) {
  const sockets = createWSClient({
    url: `${url.replace('http', 'ws')}/trpc`,
    // The WebSocket types of Node and of the platform differ only in members that no client uses.
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    connectionParams: { token },
    retryDelayMs: () => 20,
  });
  return { client: createTRPCClient<AppRouter>({ links: [wsLink({ client: sockets })] }), sockets };
}
