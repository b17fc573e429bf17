import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { grant } from '../../test/support/channels.ts';
import {
  type Answer,
  type CallOptions,
  callOnce,
  callUntilFinal,
  insist,
  mayRepeat,
} from '../setup/calls.ts';
import { pick, type Random } from '../setup/random.ts';
import { type Kind, type Outcome, Recorder } from './history.ts';

/** What all scenes share. */
export interface Place {
  urls: readonly string[];
  administrator: string;
  /** A member with sessions and keys, who also posts. */
  member: { id: string; token: string; email: string; password: string };
  random: Random;
}

const PASSWORD = 'correct horse battery';
const OPERATIONS_OF_CLIENT = 3;
/** Clients pause so long at most before an operation, so that they meet in different ways. */
const PAUSE_MS = 12;
/** Longer than a process takes to come back is no use: an unknown answer is one, too. */
const TIMEOUT_MS = 4_000;

type Operate = (client: number) => { what: string; value: string; work: () => Promise<Outcome> };

/** Lets the clients operate at the same time. */
async function play({ random }: Place, operate: Operate): Promise<Recorder> {
  const recorder = new Recorder();
  const clients = 4 + Math.floor(random() * 5);
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let n = 0; n < OPERATIONS_OF_CLIENT; n += 1) {
        await delay(random() * PAUSE_MS);
        const { what, value, work } = operate(client);
        await recorder.record(client, what, value, work);
      }
    }),
  );
  return recorder;
}

/** One call at any of the processes. */
const ask = ({ urls, random }: Place, request: string, options: CallOptions): Promise<Answer> =>
  callOnce(pick(urls, random), request, { timeoutMs: TIMEOUT_MS, ...options });

/**
 * What an answer shows.
 *
 * @param refused the name of each status that refuses for the reason of the scene
 */
function show(answer: Answer, refused: Record<number, string>, values: string[] = []): Outcome {
  if (answer.status === 429) return 'skip';
  if (mayRepeat(answer)) return null;
  if (answer.status < 300) return { status: 'ok', values };
  const status = refused[answer.status];
  if (status === undefined)
    throw new Error(`An answer that no model knows: ${answer.status} ${JSON.stringify(answer.body)}`);
  return { status, values: [] };
}

/** Clients sign up with one address, each with its own password, and sign in. */
async function signUps(place: Place): Promise<Recorder> {
  const email = `${randomUUID()}@example.com`;
  const passwords = ['correct horse', 'battery staple', 'tall green giraffe'];
  return play(place, () => {
    const password = pick(passwords, place.random);
    const body = { email, password };
    if (place.random() < 0.6) {
      const form = { ...body, name: 'Someone new' };
      const work = async () =>
        show(await ask(place, 'POST /auths/signup', { body: form }), { 400: 'taken', 409: 'taken' });
      return { what: 'sign up', value: password, work };
    }
    const work = async () =>
      show(await ask(place, 'POST /auths/signin', { body }), { 400: 'wrong', 401: 'wrong' });
    return { what: 'sign in', value: password, work };
  });
}

/**
 * A repeated call after a lost answer may find its own name taken; the next one has another name.
 *
 * @param prefix of the name, for `deleteKeys`
 */
async function makeKey(
  { urls, member: { token } }: Place,
  prefix: string,
): Promise<{ id: string; api_key: string }> {
  for (;;) {
    const options = { token, body: { name: `${prefix} ${randomUUID()}` } };
    const { status, body } = await callUntilFinal(urls, 'POST /auths/api_keys', options);
    if (status === 200) return body;
    if (body?.code !== 'name_taken')
      throw new Error(`POST /auths/api_keys answered ${status}: ${JSON.stringify(body)}`);
  }
}

/** A person may have only so many keys. An earlier deletion may have been lost, and a key made without an answer. */
async function deleteKeys({ urls, member: { token } }: Place, prefix: string): Promise<void> {
  const keys: { id: string; name: string }[] = await insist(urls, 'GET /auths/api_keys', { token });
  const own = keys.filter(({ name }) => name.startsWith(prefix));
  await Promise.all(own.map(({ id }) => callUntilFinal(urls, `DELETE /auths/api_keys/${id}`, { token })));
}

/** Clients use one session or one API key, and end it. */
async function tokens(place: Place): Promise<Recorder> {
  const { urls, member, random } = place;
  const isKey = random() < 0.5;
  const prefix = randomUUID().slice(0, 8);
  let token: string;
  let end: () => Promise<Answer>;
  if (isKey) {
    const made = await makeKey(place, prefix);
    token = made.api_key;
    end = () => ask(place, `DELETE /auths/api_keys/${made.id}`, { token: member.token });
  } else {
    // A new account for each: one address may sign in only so often.
    const email = `${randomUUID()}@example.com`;
    const body = { email, password: PASSWORD, name: 'Someone' };
    await callUntilFinal(urls, 'POST /users', {
      token: place.administrator,
      body: { ...body, role: 'user' },
    });
    token = (await insist(urls, 'POST /auths/signin', { body })).token;
    end = () => ask(place, 'POST /auths/signout', { token, body: {} });
  }
  const recorder = await play(place, () =>
    random() < 0.15
      ? {
          what: 'end',
          value: '',
          work: async () => show(await end(), { 401: 'ended', 404: 'ended' }),
        }
      : {
          what: 'use',
          value: '',
          work: async () => show(await ask(place, 'GET /channels', { token }), { 401: 'ended' }),
        },
  );
  if (isKey) await deleteKeys(place, prefix);
  return recorder;
}

/** Administrators give and take the right to a channel, and its person reads. */
async function grants(place: Place): Promise<Recorder> {
  const { urls, administrator, member, random } = place;
  const { id } = await insist(urls, 'POST /channels/create', {
    token: administrator,
    body: { name: 'granted' },
  });
  return play(place, () => {
    if (random() < 0.3) {
      const isGiven = random() < 0.5;
      const body = { access_grants: isGiven ? [grant(member.id, 'read')] : [] };
      const work = async () =>
        show(await ask(place, `POST /channels/${id}/access/update`, { token: administrator, body }), {});
      return { what: 'set', value: isGiven ? 'yes' : 'no', work };
    }
    const work = async () =>
      show(await ask(place, `GET /channels/${id}/messages`, { token: member.token }), { 403: 'refused' });
    return { what: 'read', value: '', work };
  });
}

/** Clients of one person post with one `temp_id`, and read. */
async function posts(place: Place): Promise<Recorder> {
  const { urls, administrator, member, random } = place;
  const body = { name: 'posts', access_grants: [grant(member.id, 'write')] };
  const { id } = await insist(urls, 'POST /channels/create', { token: administrator, body });
  const temp_id = randomUUID();
  const { token } = member;
  return play(place, (client) => {
    if (random() < 0.6) {
      const work = async () => {
        const form = { content: `from client ${client}`, temp_id };
        const answer = await ask(place, `POST /channels/${id}/messages/post`, { token, body: form });
        return show(answer, {}, [answer.body?.id]);
      };
      return { what: 'post', value: '', work };
    }
    const work = async () => {
      const answer = await ask(place, `GET /channels/${id}/messages`, { token });
      return show(answer, {}, Array.isArray(answer.body) ? answer.body.map((message) => message.id) : []);
    };
    return { what: 'read', value: '', work };
  });
}

export const SCENES: Record<Kind, (place: Place) => Promise<Recorder>> = {
  'sign-up': signUps,
  token: tokens,
  grant: grants,
  post: posts,
};
