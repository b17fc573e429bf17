import { expect } from 'vitest';
import { type Grant, grant, makeChannel } from '../support/channels.ts';
import { type Person, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';

interface Logged {
  id: number;
  type: string;
  message_id: string;
  actor: Record<string, unknown>;
  data: Record<string, unknown>;
}

/** A server with an owner of channels and a writer, and the calls of the writer in the current channel. */
export async function openBoard() {
  const server: TestServer = await startServer();
  const owner = await signUp(server, 'Owner');
  const writer = await signUpAs(server, owner, 'Writer', 'user');
  let channelId = '';

  /** Makes a channel and uses it from now on. */
  async function turnToNewChannel(...further: Grant[]): Promise<string> {
    channelId = await makeChannel(server, owner, grant(writer.id, 'write'), ...further);
    return channelId;
  }

  const at = (path: string) => `/channels/${channelId}/messages${path}`;
  /** A call below the messages of the channel; the writer is the default caller. */
  const attempt = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown, as: Person = writer) =>
    server.call(`${method} ${at(path)}`, { token: as.token, body });
  const send = (body: Record<string, unknown>, as?: Person) => attempt('POST', '/post', body, as);

  return {
    server,
    owner,
    writer,
    at,
    attempt,
    send,
    turnToNewChannel,
    get channelId() {
      return channelId;
    },
    turnTo(id: string) {
      channelId = id;
    },
    async post(body: Record<string, unknown>, as?: Person) {
      const answer = await send(body, as);
      expect(answer).toMatchObject({ status: 200 });
      return answer.body;
    },
    get: async (id: string) => (await attempt('GET', `/${id}`)).body,
    list: async (query = '') => (await attempt('GET', query)).body,
    edit: (id: string, body: unknown) => attempt('POST', `/${id}/update`, body),
    remove: (id: string) => attempt('DELETE', `/${id}/delete`),
    pin: (id: string, is_pinned = true, as?: Person) => attempt('POST', `/${id}/pin`, { is_pinned }, as),
    react: (id: string, name: unknown, as?: Person) => attempt('POST', `/${id}/reactions/add`, { name }, as),
    unreact: (id: string, name: unknown, as?: Person) =>
      attempt('POST', `/${id}/reactions/remove`, { name }, as),
    /** The logged events of messages, oldest first. */
    log: () =>
      server.database.query<Logged>(
        `select id::int, type, message_id, actor, data from channel_event
          where channel_id = $1 and message_id is not null order by id`,
        [channelId],
      ),
    close: () => server.close(),
  };
}
