import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import type { AppRouter } from '../../src/router.ts';
import { grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { connectProvider, type ScriptedProvider, startProvider } from '../support/provider.ts';
import { toolOf } from '../support/python.ts';
import {
  type Answer,
  type Person,
  type ServerOptions,
  signUpAll,
  startServer,
  type TestServer,
} from '../support/server.ts';

/** An event or notice of a channel, as the doors send it. */
export interface Heard {
  event_id?: number;
  message_id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects
  data: { type: string; data: any };
}

/** A server with a scripted provider, an administrator, two members, and a channel in which both may write. */
export interface Desk {
  server: TestServer;
  provider: ScriptedProvider;
  root: Person;
  ann: Person;
  bob: Person;
  channelId: string;
  /** Posts as Ann. */
  post(content: string, more?: object, as?: Pick<Person, 'token'>): Promise<Answer['body']>;
  get(messageId: string): Promise<Answer['body']>;
  /** The replies of models to a message, in its thread, when there are so many. */
  replies(messageId: string, count?: number): Promise<Answer['body'][]>;
  /** The same when they are done. */
  answers(messageId: string, count?: number): Promise<Answer['body'][]>;
  close(): Promise<void>;
}

export async function openDesk(models: string[] = ['small'], options: ServerOptions = {}): Promise<Desk> {
  const server = await startServer({ env: { LOG_LEVEL: 'silent' }, ...options });
  const provider = await startProvider(...models);
  provider.models.push({ id: 'narrow', object: 'model', created: 1, owned_by: 'test', context_length: 600 });
  const [root, ann, bob] = await signUpAll(server, 'Root', 'Ann', 'Bob');
  await configure(server, root, (config) => {
    config.models.open_provider_models = true;
  });
  await connectProvider(server, root, provider);
  const channelId = await makeChannel(server, root, grant(ann.id, 'write'), grant(bob.id, 'write'));
  const at = `/channels/${channelId}/messages`;
  const desk: Desk = {
    ...{ server, provider, root, ann, bob, channelId },
    async post(content, more = {}, as = ann) {
      const { status, body } = await server.as(as)(`POST ${at}/post`, { content, ...more });
      if (status !== 200) throw new Error(`The post answered ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    get: async (messageId) => (await server.as(root)(`GET ${at}/${messageId}`)).body,
    replies: (messageId, count = 1) =>
      until(`${count} replies`, async () => {
        const { body } = await server.as(root)(`GET ${at}/${messageId}/thread`);
        const byModels = body.filter(({ meta }: { meta: { model_id?: string } }) => meta.model_id);
        return byModels.length >= count ? byModels.reverse() : undefined;
      }),
    answers: (messageId, count = 1) =>
      until(`${count} answers`, async () => {
        const replies = await desk.replies(messageId, count);
        return replies.every(({ meta }) => meta.done) ? replies : undefined;
      }),
    async close() {
      await server.close();
      await provider.close();
    },
  };
  return desk;
}

const ASKER = `
    async def confirm(self, __event_call__=None) -> str:
        try:
            return f"Confirmed: {await __event_call__({'type': 'confirmation', 'data': {'title': 'Deploy?'}})}"
        except Exception as error:
            return f"Refused: {error}"

    async def secret(self, __event_call__=None) -> str:
        return "Given: " + await __event_call__({"type": "input", "data": {
            "title": "Password", "message": "Of the server", "placeholder": "swordfish", "type": "password"}})

    async def execute(self, __event_call__=None) -> str:
        try:
            return await __event_call__({"type": "execute", "data": {"code": "alert(1)"}})
        except Exception as error:
            return f"Refused: {error}"
`;

/** Makes a tool that asks, and a model over `small` with it; all members may use both as `asker`. */
export async function askingTool({ server, root }: Pick<Desk, 'server' | 'root'>): Promise<void> {
  const access_grants = [{ principal_type: 'user', principal_id: '*', permission: 'read' }];
  const tool = {
    id: 'asker',
    name: 'Asker',
    content: toolOf(ASKER),
    meta: { description: '' },
    access_grants,
  };
  const meta = { toolIds: ['asker'] };
  const model = { id: 'asker', name: 'The asker', base_model_id: 'small', params: {}, meta, access_grants };
  for (const [request, body] of [
    ['POST /tools/create', tool],
    ['POST /models/create', model],
  ] as const) {
    const answer = await server.as(root)(request, body);
    if (answer.status !== 200) throw new Error(`${request} answered ${JSON.stringify(answer.body)}`);
  }
}

/** Changes the configuration of a server. */
export async function configure(
  server: TestServer,
  administrator: Person,
  // biome-ignore lint/suspicious/noExplicitAny: any setting
  change: (config: any) => void,
): Promise<void> {
  const { body } = await server.as(administrator)('GET /configs/export');
  change(body);
  const answer = await server.as(administrator)('POST /configs/import', body);
  if (answer.status !== 200) throw new Error(`The import answered ${JSON.stringify(answer.body)}`);
}

/** Listens to all channels of a person by Socket.IO. */
export async function listen(server: Pick<TestServer, 'url'>, { token }: Pick<Person, 'token'>) {
  const heard: Heard[] = [];
  const socket = io(server.url, {
    path: '/ws/socket.io',
    transports: ['websocket'],
    auth: { token, events: 'envelope' },
  });
  socket.on('events:channel', (event: Heard) => heard.push(event));
  await new Promise((resolve) => socket.once('connect', () => resolve(undefined)));
  return { heard, close: () => void socket.disconnect() };
}

/** The same by the tRPC subscription. */
export async function subscribe(server: Pick<TestServer, 'url'>, { token }: Pick<Person, 'token'>) {
  const heard: Heard[] = [];
  const sockets = createWSClient({
    url: `${server.url.replace('http', 'ws')}/trpc`,
    // The WebSocket types of Node and of the platform differ only in members that no client uses.
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
    connectionParams: { token },
  });
  const client = createTRPCClient<AppRouter>({ links: [wsLink({ client: sockets })] });
  await new Promise<void>((resolve, reject) => {
    client.channels.events.subscribe(
      {},
      {
        onStarted: () => resolve(),
        onError: reject,
        onData: (item) => heard.push(('notice' in item ? item.notice : item.data) as Heard),
      },
    );
  });
  return { heard, close: () => void sockets.close() };
}

/** What was heard of one message. */
export const of = (heard: readonly Heard[], messageId: string) =>
  heard.filter(({ message_id }) => message_id === messageId);

/** A switch that a script waits for. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}
