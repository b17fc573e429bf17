import { afterAll, describe, expect, it } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { startServer } from '../support/server.ts';
import { type Listener, listenBySocketIo, listenByTrpc } from '../support/sockets.ts';
import { hearers } from './access.rights.ts';
import { ALL_RELATIONS, gather, KINDS, type Relation, type Stage, setStageOf } from './people.ts';

/* Tests that only readers of a channel receive the events of its messages. */

const server = await startServer();
afterAll(() => server.close());
const people = await gather(server);
/** Every listener reads this channel: after its event, all earlier events have arrived. */
const fenceId = await makeChannel(server, people.owner, grant('*', 'read'));

async function call(request: string, body: unknown, as: Relation) {
  const answer = await server.call(request, { token: people[as].token, body });
  expect([request, answer.status]).toEqual([request, 200]);
  return answer.body;
}

const DOORS: Record<string, (url: string, token?: string) => Promise<Listener>> = {
  'Socket.IO': listenBySocketIo,
  tRPC: listenByTrpc,
};

const REFUSED: Partial<Record<Relation, string>> = {
  pending: 'account_pending',
  revoked: 'unauthenticated',
  signedOut: 'unauthenticated',
};

/** Runs every operation on a message as a caller with all rights; returns the types of the events. */
async function doEverything({ channelId, othersId }: Stage, as: Relation): Promise<string[]> {
  const path = `/channels/${channelId}/messages`;
  const reaction = { name: '👍' };
  const { id } = await call(`POST ${path}/post`, { content: 'x' }, as);
  await call(`POST ${path}/${id}/update`, { content: 'y' }, as);
  await call(`POST ${path}/${id}/pin`, { is_pinned: true }, as);
  await call(`POST ${path}/${othersId}/reactions/add`, reaction, as);
  await call(`POST ${path}/${othersId}/reactions/remove`, reaction, as);
  await call(`POST ${path}/post`, { content: 'reply', parent_id: id }, as);
  await call(`DELETE ${path}/${id}/delete`, undefined, as);
  return [
    'message',
    'message:update',
    'message:update',
    'message:reaction:add',
    'message:reaction:remove',
    'message',
    'message:reply',
    'message:delete',
  ];
}

describe.each(Object.keys(DOORS))('at the %s door', (door) => {
  const listen = (token: string) => DOORS[door]?.(server.url, token || undefined) as Promise<Listener>;

  it.each(KINDS)('only readers receive the events of a %s channel', async (kind) => {
    const stage = await setStageOf(server, people, kind);
    const listening = new Map<Relation, Listener>();
    try {
      for (const relation of ALL_RELATIONS) {
        // Socket.IO keeps a socket without credentials for ten seconds and sends it nothing: see
        // `socketio.test.ts`.
        if (door === 'Socket.IO' && relation === 'signedOut') continue;
        const listener = await listen(people[relation].token);
        expect([relation, listener.ended]).toEqual([relation, REFUSED[relation]]);
        listening.set(relation, listener);
      }
      // An author with write access: the owner in standard channels, a member in the others.
      const types = await doEverything(stage, hearers(kind).includes('owner') ? 'owner' : 'writer');
      await call(`POST /channels/${fenceId}/messages/post`, { content: 'fence' }, 'owner');
      for (const [relation, listener] of listening) {
        const isFence = ({ content }: { content?: string | undefined }) => content === 'fence';
        if (!REFUSED[relation]) await until(`${relation}'s fence`, () => listener.events.some(isFence));
        // Presence is sent as well; it has tests of its own.
        const ofMessages = () =>
          listener.events.filter((event) => /^message/.test(event.type) && !isFence(event));
        const isReader = hearers(kind).includes(relation === 'public' ? 'stranger' : relation);
        // Another channel may overtake this one while a socket is admitted.
        if (isReader) await until(`the events for ${relation}`, () => ofMessages().length >= types.length);
        const heard = ofMessages().map(({ type }) => type);
        expect([relation, heard]).toEqual([relation, isReader ? types : []]);
        expect([relation, listener.ended]).toEqual([relation, REFUSED[relation]]);
      }
    } finally {
      for (const listener of listening.values()) listener.close();
    }
  });
});
