import { startServer } from '../support/server.ts';
import { type Attempt, DOORS, type Door, type DoorName } from './access.doors.ts';
import type { Outcome } from './access.rights.ts';
import { openSnapshots } from './access.snapshot.ts';
import { gather, type Relation } from './people.ts';

export const DOOR_NAMES = Object.keys(DOORS) as DoorName[];

/** A server with everybody whom the table names, and all ways in. */
export async function openTable() {
  const server = await startServer();
  const people = await gather(server);
  const snapshots = await openSnapshots(server.database.url);
  const doors = new Map<DoorName, Door>(DOOR_NAMES.map((name) => [name, DOORS[name](server.url)]));
  return {
    server,
    people,
    snapshots,
    /** What somebody is answered at a door; undefined for what that does not have. */
    attempt: async (name: DoorName, as: Relation, attempt: Attempt): Promise<Outcome | undefined> =>
      doors.get(name)?.attempt(people[as], attempt),
    async close() {
      for (const { close } of doors.values()) close();
      await snapshots.close();
      await server.close();
    },
  };
}

export type Table = Awaited<ReturnType<typeof openTable>>;
