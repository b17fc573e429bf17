import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOOR_NAMES } from '../support/doors.ts';
import type { TestServer } from '../support/server.ts';
import type { Outcome } from '../support/sockets.ts';
import { ACTIONS } from './access.actions.ts';

import { FORBIDDEN } from './access.rights.ts';
import type { Snapshots } from './access.snapshot.ts';
import { openTable, type Table } from './access.table.ts';
import { type People, type Relation, type Stage, setStageOf } from './people.ts';

/*
 * Tests that every operation is refused when channels are off for all users (`channels.enable`) or for one
 * user (`features.channels`).
 */

let table: Table;
let server: TestServer;
let people: People;
let stage: Stage;
let snapshots: Snapshots;
const ofChannels = ACTIONS.filter(({ procedure }) => !procedure.startsWith('files.'));

beforeAll(async () => {
  table = await openTable();
  ({ server, people, snapshots } = table);
  stage = await setStageOf(server, people, 'group');
});
afterAll(() => table.close());

/** Changes the configuration as an administrator. */
async function configure(change: (config: Record<string, Record<string, unknown>>) => void) {
  const { token } = people.owner;
  const { body: config } = await server.call('GET /configs/export', { token });
  change(config);
  expect((await server.call('POST /configs/import', { token, body: config })).status).toBe(200);
}

async function requireRefusal(as: Relation, { procedure, input }: (typeof ACTIONS)[number], rule: Outcome) {
  const before = await snapshots.take(stage);
  for (const name of DOOR_NAMES) {
    const outcome = await table.attempt(name, as, { procedure, input: input(stage, people) });
    if (outcome) expect([name, outcome]).toEqual([name, rule]);
  }
  expect(await snapshots.take(stage)).toEqual(before);
}

describe('channels.enable off', () => {
  beforeAll(() =>
    configure((config) => {
      config.channels = { ...config.channels, enable: false };
    }),
  );
  afterAll(() =>
    configure((config) => {
      config.channels = { ...config.channels, enable: true };
    }),
  );

  it.each(ofChannels)('refuses managers: $name', async (action) => {
    await requireRefusal('manager', action, { status: 403, code: 'channels_disabled' });
  });

  it('hides the file of a message from everyone but its owner', async () => {
    const statusFor = async (as: Relation) =>
      (await server.call(`GET /files/${stage.fileId}`, { token: people[as].token })).status;
    expect([await statusFor('manager'), await statusFor('author')]).toEqual([404, 200]);
  });
});

describe('features.channels off', () => {
  beforeAll(() => setPermission(false));
  afterAll(() => setPermission(true));

  async function setPermission(isGiven: boolean): Promise<void> {
    const { token } = people.owner;
    const { body } = await server.call('GET /users/default/permissions', { token });
    body.features.channels = isGiven;
    expect((await server.call('POST /users/default/permissions', { token, body })).status).toBe(200);
  }

  it.each(ofChannels.filter(({ needs }) => needs !== 'without credentials'))(
    'refuses managers: $name',
    async (action) => {
      await requireRefusal('manager', action, FORBIDDEN);
    },
  );

  it('does not affect administrators', async () => {
    const { token } = people.administrator;
    expect((await server.call('GET /channels', { token })).status).toBe(200);
  });
});
