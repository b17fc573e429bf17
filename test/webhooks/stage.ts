import { egressToHere, type startTarget } from '../egress/targets.ts';
import { until } from '../support/poll.ts';
import {
  type Person,
  type ServerOptions,
  signUp,
  signUpAs,
  startServer,
  type TestServer,
} from '../support/server.ts';

export const WEB_URL = 'https://chat.example.com';

export interface Stage {
  server: TestServer;
  root: Person;
  /** Calls with the token of a person. */
  as(person: Person): (request: string, body?: unknown) => ReturnType<TestServer['call']>;
  person(name: string): Promise<Person>;
  /** A channel of the administrator that everyone may read. */
  channel(name: string): Promise<string>;
  post(channelId: string, content: string): Promise<string>;
  configure(changes: object): Promise<void>;
  close(): Promise<void>;
}

/** A server with notifications on, whose egress leads to this machine. */
export async function setStage(options: ServerOptions = {}): Promise<Stage> {
  const egress = egressToHere();
  const server = await startServer({ egress, ...options });
  const root = await signUp(server, 'Root');
  const as =
    ({ token }: Person) =>
    (request: string, body?: unknown) =>
      server.call(request, { token, ...(body !== undefined && { body }) });
  const configure = async (changes: object) => {
    const { body } = await as(root)('GET /configs/export?secrets=true');
    const answer = await as(root)('POST /configs/import', {
      ...body,
      ...changes,
      ui: { ...body.ui, ...(changes as { ui?: object }).ui },
    });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  };
  await configure({ ui: { enable_user_webhooks: true }, webui: { url: WEB_URL } });
  return {
    server,
    root,
    as,
    configure,
    person: (name) => signUpAs(server, root, name, 'user'),
    async channel(name) {
      const access_grants = [{ principal_type: 'user', principal_id: '*', permission: 'read' }];
      return (await as(root)('POST /channels/create', { name, access_grants })).body.id;
    },
    async post(channelId, content) {
      const { status, body } = await as(root)(`POST /channels/${channelId}/messages/post`, { content });
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body.id;
    },
    async close() {
      await server.close();
      await egress.close();
    },
  };
}

/** Makes a person get notifications at an address, with these channels opened. */
export async function follow(
  stage: Stage,
  person: Person,
  url: string,
  ...channelIds: string[]
): Promise<void> {
  const body = { ui: { notifications: { webhook_url: url } } };
  const { status } = await stage.as(person)('POST /users/user/settings/update', body);
  if (status !== 200) throw new Error(`The settings answered ${status}.`);
  for (const channelId of channelIds) await setNotify(stage, person, channelId, 'all');
}

/** Sets the notification level of a person in a channel, directly in the database. */
export async function setNotify(
  stage: Stage,
  { id }: Person,
  channelId: string,
  notify: string,
): Promise<void> {
  await stage.server.database.query(
    `insert into channel_reader (channel_id, user_id, notify) values ($1, $2, $3)
     on conflict (channel_id, user_id) do update set notify = excluded.notify`,
    [channelId, id, notify],
  );
}

/** The deliveries that a person sees, once they match. */
export const deliveriesOf = async (
  stage: Stage,
  person: Person,
  isAwaited: (deliveries: { status: string; attempts: number; response_status: number | null }[]) => boolean,
) =>
  until('deliveries', async () => {
    const { body } = await stage.as(person)('GET /users/user/deliveries');
    return isAwaited(body) && body;
  });

/** Makes waiting deliveries due now, and clears the outcome of their last attempt. */
export async function hurry(stage: Stage): Promise<void> {
  const { query } = stage.server.database;
  await until('no attempt to be under way', async () => {
    const held = await query('select from graphile_worker.jobs where locked_by is not null');
    return held.length === 0;
  });
  await query(`update delivery set next_attempt_at = 0, response_status = null where status = 'pending'`);
  await query('update graphile_worker._private_jobs set run_at = now() where attempts < max_attempts');
}

export type Answering = Parameters<typeof startTarget>[0];
