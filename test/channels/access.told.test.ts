import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENVELOPE, listenBySocket } from '../events/listen.ts';
import { until } from '../support/poll.ts';
import { holders, REFUSALS, type Right } from './access.rights.ts';
import { openTable, type Table } from './access.table.ts';
import { ALL_RELATIONS, KINDS, type Relation, setStageOf } from './people.ts';

/*
 * What clients may tell of a channel over Socket.IO: the same people as at the other doors, and what others tell changes nothing.
 */

let table: Table;
beforeAll(async () => {
  table = await openTable();
});
afterAll(() => table.close());

const TOLD: Record<string, { needs: Right; data: unknown }> = {
  typing: { needs: 'write', data: { type: 'typing', data: { typing: true } } },
  'a mark of what was read': { needs: 'read', data: { type: 'last_read_at' } },
};
const TRIED = ALL_RELATIONS.filter((relation) => relation !== 'public');

/** Whether what somebody tells is done. What one socket tells is done in its order, so the answer to the second ends the wait. */
async function isHeard(relation: Relation, payload: unknown): Promise<boolean> {
  const { token } = table.people[relation];
  const listener = await listenBySocket(table.server.url, token || undefined);
  try {
    expect([relation, listener.refusal?.code]).toEqual([
      relation,
      // A nameless socket may stay for ten seconds to say who it is; nothing that it tells is done.
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
  it.each(Object.entries(TOLD))('%s', async (_name, { needs, data }) => {
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
