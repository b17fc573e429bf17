import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENVELOPE, listenBySocket } from '../events/listen.ts';
import { until } from '../support/poll.ts';
import { holders, REFUSALS, type Right } from './access.rights.ts';
import { openTable, type Table } from './access.table.ts';
import { ALL_RELATIONS, KINDS, type Relation, setStageOf } from './people.ts';

/*
 * Tests what clients may send about a channel over Socket.IO: the same people as at the other doors, and
 * messages of others change nothing.
 */

let table: Table;
beforeAll(async () => {
  table = await openTable();
});
afterAll(() => table.close());

const TOLD: Record<string, { needs: Right; data: unknown }> = {
  typing: { needs: 'write', data: { type: 'typing', data: { typing: true } } },
  'a read mark': { needs: 'read', data: { type: 'last_read_at' } },
};
const TRIED = ALL_RELATIONS.filter((relation) => relation !== 'public');

/**
 * Whether a message of this person is accepted. The server handles the messages of one socket in order, so
 * the answer to the second ends the wait.
 */
async function isHeard(relation: Relation, payload: unknown): Promise<boolean> {
  const { token } = table.people[relation];
  const listener = await listenBySocket(table.server.url, token || undefined);
  try {
    expect([relation, listener.refusal?.code]).toEqual([
      relation,
      // A socket without credentials may stay for ten seconds; its messages are ignored.
      relation === 'signedOut' ? undefined : REFUSALS[relation]?.code,
    ]);
    if (listener.ended) return false;
    const { socket } = listener;
    let isDone = false;
    let isPassed = false;
    socket.emit(ENVELOPE, payload, () => {
      isDone = true;
    });
    if (relation === 'signedOut')
      socket.emit('user-join', {}, () => {
        isPassed = true;
      });
    else
      socket.emit('heartbeat', {}, () => {
        isPassed = true;
      });
    await until('the answer', () => isPassed);
    return isDone;
  } finally {
    listener.close();
  }
}

describe.each(KINDS)('in a %s channel', (kind) => {
  it.each(Object.entries(TOLD))('%s is accepted only with the right', async (_name, { needs, data }) => {
    const { server, people, snapshots } = table;
    const stage = await setStageOf(server, people, kind);
    const payload = { channel_id: stage.channelId, message_id: null, data };
    const before = await snapshots.take(stage);
    const [done, passed] = [holders(needs, kind), TRIED.filter((one) => !holders(needs, kind).includes(one))];
    const heard = async (relations: readonly Relation[]) =>
      Promise.all(relations.map(async (relation) => [relation, await isHeard(relation, payload)]));
    expect(await heard(passed)).toEqual(passed.map((relation) => [relation, false]));
    expect(await snapshots.take(stage)).toEqual(before);
    expect(await heard(done)).toEqual(done.map((relation) => [relation, true]));
  });
});
