import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOOR_NAMES, type DoorName } from '../support/doors.ts';
import type { Outcome } from '../support/sockets.ts';
import { ACTIONS, type Action, expected } from './access.actions.ts';
import { DONE } from './access.rights.ts';
import { openTable, PROCEDURES, type Table } from './access.table.ts';
import { ALL_RELATIONS, KINDS, type Kind, type Relation, type Stage, setStageOf } from './people.ts';

/* Tests the rights in each kind of channel. A refused call changes nothing. */

let table: Table;
beforeAll(async () => {
  table = await openTable();
});
afterAll(() => table.close());

/** In a public channel, a reader by the public grant is the same as a stranger. */
const TRIED = ALL_RELATIONS.filter((relation) => relation !== 'public');

it('the table has every procedure of channels and their contents', () => {
  const ofChannels = [...PROCEDURES.values()].filter(
    ({ meta, path }) =>
      meta?.level !== 'administrator' &&
      (meta?.openapi?.path.startsWith('/channels') || /^(channels|files)\./.test(path)),
  );
  expect(new Set(ACTIONS.map(({ procedure }) => procedure))).toEqual(
    new Set(ofChannels.map(({ path }) => path)),
  );
});

/** The stage of each kind, shared by all tests. */
const stages = new Map<Kind, Stage>();
async function sharedStage(kind: Kind): Promise<Stage> {
  const stage = stages.get(kind) ?? (await setStageOf(table.server, table.people, kind));
  stages.set(kind, stage);
  return stage;
}

/**
 * All doors call the same service, so each action is tried once for each kind; together, the four kinds cover
 * every door of the action.
 */
function doorOf(action: Action, kind: Kind): DoorName {
  if (PROCEDURES.get(action.procedure)?.type === 'subscription') return 'tRPC socket';
  const turn = ACTIONS.indexOf(action) + KINDS.indexOf(kind);
  return DOOR_NAMES[turn % DOOR_NAMES.length] as DoorName;
}

describe.each(KINDS)('in a %s channel', (kind) => {
  it.each(ACTIONS.map((action) => ({ ...action, action, door: doorOf(action, kind) })))(
    'the rights decide: $name, at the $door door',
    async ({ action, door }) => {
      const { procedure, input, spends } = action;
      const { people, snapshots } = table;
      const attempt = async (stage: Stage, relation: Relation): Promise<[Relation, Outcome | undefined]> => [
        relation,
        await table.attempt(door, relation, { procedure, input: input(stage, people) }),
      ];
      const rule = (relation: Relation) => expected(action, kind, relation);
      const refused = TRIED.filter((relation) => rule(relation) !== DONE);
      const stage = await sharedStage(kind);
      const before = await snapshots.take(stage);
      const refusals = await Promise.all(refused.map((relation) => attempt(stage, relation)));
      expect(refusals).toEqual(refused.map((relation) => [relation, rule(relation)]));
      expect(await snapshots.take(stage)).toEqual(before);

      const admitted = TRIED.filter((relation) => rule(relation) === DONE);
      const groups = spends ? admitted.map((relation) => [relation]) : [admitted];
      for (const group of groups) {
        const outcomes = await Promise.all(group.map((relation) => attempt(stage, relation)));
        expect(outcomes).toEqual(group.map((relation) => [relation, DONE]));
        if (PROCEDURES.get(procedure)?.type === 'mutation') await snapshots.restore(stage, before);
      }
    },
  );
});
