import { listProcedures, type Procedure } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { type DoorName, openDoors } from '../support/doors.ts';
import { startServer } from '../support/server.ts';
import type { Outcome } from '../support/sockets.ts';
import type { Input } from './access.actions.ts';
import { openSnapshots } from './access.snapshot.ts';
import { gather, type Relation } from './people.ts';

export const PROCEDURES = new Map(listProcedures(appRouter).map((procedure) => [procedure.path, procedure]));

/** The procedure with this name. @throws Error when there is none */
export function procedureOf(name: string): Procedure {
  const procedure = PROCEDURES.get(name);
  if (!procedure) throw new Error(`There is no procedure ${name}.`);
  return procedure;
}

/** A server with all people of the table, and their doors. */
export async function openTable() {
  const server = await startServer();
  const people = await gather(server);
  const snapshots = await openSnapshots(server.database.url);
  const doors = new Map<string, ReturnType<typeof openDoors>>();
  /** The doors of a person, opened at first use. */
  function doorsOf(token: string) {
    const opened = doors.get(token) ?? openDoors(server.url, token || undefined);
    doors.set(token, opened);
    return opened;
  }
  return {
    server,
    people,
    snapshots,
    /** The outcome of an action at a door; undefined when the door does not have it. */
    attempt: (
      name: DoorName,
      as: Relation,
      { procedure, input }: { procedure: string; input: Input },
    ): Promise<Outcome | undefined> => doorsOf(people[as].token).at[name](procedureOf(procedure), input),
    async close() {
      for (const { close } of doors.values()) close();
      await snapshots.close();
      await server.close();
    },
  };
}

export type Table = Awaited<ReturnType<typeof openTable>>;
