import { createTRPCUntypedClient, httpLink, type TRPCClientError } from '@trpc/client';
import type { AppRouter } from '../../src/router.ts';
import { grant } from '../support/channels.ts';
import type { TestDatabase } from '../support/database.ts';
import { type CallOptions, call, PASSWORD } from '../support/server.ts';

/** A person who writes and reads. The first of a stage is the administrator. */
export interface Player {
  id: string;
  name: string;
  token: string;
  /** The door that the player writes through. */
  door: 'rest' | 'trpc';
}

export interface Operation {
  procedure: string;
  /** The request at the REST door; names in braces are replaced from the input. */
  request: string;
  input: Record<string, unknown>;
}

/** `status` is 0 when no answer came: whether the operation was done is unknown. */
export interface Outcome {
  status: number;
  // The shape is what the caller asked for.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
}

/** Performs an operation as a player, through the player's door, on the server at this address. */
export async function perform(
  url: string,
  { token, door }: Pick<Player, 'token' | 'door'>,
  { procedure, request, input }: Operation,
): Promise<Outcome> {
  if (door === 'trpc') return performByTrpc(url, token, procedure, input);
  const body = { ...input };
  const path = request.replace(/\{(\w+)\}/g, (_, name) => {
    const value = String(body[name]);
    delete body[name];
    return value;
  });
  const options = path.startsWith('POST') ? { token, body } : { token };
  return call(url, path, options).catch(() => ({ status: 0, body: undefined }));
}

async function performByTrpc(
  url: string,
  token: string,
  procedure: string,
  input: Record<string, unknown>,
): Promise<Outcome> {
  const links = [httpLink({ url: `${url}/trpc`, headers: { authorization: `Bearer ${token}` } })];
  try {
    const body = await createTRPCUntypedClient<AppRouter>({ links }).mutation(procedure, input);
    return { status: 200, body };
  } catch (error) {
    const { data } = error as TRPCClientError<AppRouter>;
    return { status: (data as { httpStatus?: number } | undefined)?.httpStatus ?? 0, body: data };
  }
}

/** A call that must succeed. */
async function insist(url: string, request: string, options: CallOptions) {
  const { status, body } = await call(url, request, options);
  if (status !== 200) throw new Error(`${request} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

const NAMES = ['Root', 'Ada', 'Ben', 'Cyd', 'Dee'];

/**
 * Signs up the players, and makes the database record the readers of a channel at each of its events. The
 * event is the last statement of its change, so the records say exactly who could read between which event
 * numbers, and between which times. They stay when the channel is deleted.
 */
export async function gatherPlayers(url: string, database: TestDatabase): Promise<Player[]> {
  const players: Player[] = [];
  for (const [n, name] of NAMES.entries()) {
    const email = `${name.toLowerCase()}@example.com`;
    const { id } = await insist(url, 'POST /auths/signup', { body: { email, name, password: PASSWORD } });
    const [root] = players;
    const role = { token: root?.token, body: { role: 'user' } };
    if (root) await insist(url, `POST /users/${id}/update`, role);
    const { token } = await insist(url, 'POST /auths/signin', { body: { email, password: PASSWORD } });
    players.push({ id, name, token, door: n % 2 === 0 ? 'rest' : 'trpc' });
  }
  await database.query(`
    create table test_readers
      (channel_id uuid, event_id bigint, at bigint, done_at bigint, type text, readers uuid[], managers int);
    create function test_note_readers() returns trigger language plpgsql as $$ begin
      insert into test_readers
      select c.id, new.id, new.created_at, null, c.type,
             array(select u.id from users u where case when c.type is not null
               then exists (select from channel_member m where m.channel_id = c.id and m.user_id = u.id)
               else u.role = 'admin' or u.id = c.user_id or exists (
                 select from access_grant g where g.resource_type = 'channel' and g.resource_id = c.id::text
                    and g.principal_type = 'user' and g.principal_id in (u.id::text, '*')) end),
             (select count(*) from channel_member m where m.channel_id = c.id and m.role = 'manager')
        from channel c where c.id = new.channel_id;
      return null;
    end $$;
    create trigger test_note_readers after insert on channel_event for each row
      when (new.type like 'channel:%') execute function test_note_readers();
    create function test_note_commit() returns trigger language plpgsql as $$ begin
      update test_readers set done_at = extract(epoch from clock_timestamp()) * 1000000000
       where channel_id = new.channel_id and event_id = new.id;
      return null;
    end $$;
    create constraint trigger test_note_commit after insert on channel_event deferrable initially deferred for each row
      when (new.type like 'channel:%') execute function test_note_commit();`);
  return players;
}

/**
 * Makes channels of every kind: a public one, one with grants, a group channel and a direct channel.
 *
 * @param round up to 15 rounds, since the same people always share one direct channel
 */
export async function makeChannels(url: string, players: Player[], round: number): Promise<string[]> {
  const [root, ada, ben, cyd] = players as [Player, Player, Player, Player];
  const others = players.filter((player) => player !== ben);
  const user_ids = others.filter((_, n) => (round + 1) & (1 << n)).map(({ id }) => id);
  const make = async ({ token }: Player, body: Record<string, unknown>): Promise<string> =>
    (await insist(url, 'POST /channels/create', { token, body })).id;
  const everyone = grant('*', 'read');
  return [
    await make(root, {
      name: 'open',
      access_grants: [everyone, grant(ada.id, 'write'), grant(ben.id, 'write')],
    }),
    await make(root, { name: 'granted', access_grants: [grant(ada.id, 'write'), grant(cyd.id, 'read')] }),
    await make(ada, { name: 'group', type: 'group', user_ids: [ben.id, cyd.id] }),
    await make(ben, { type: 'dm', user_ids }),
  ];
}
