import { type Child, startChild } from './child.ts';
import { type Cluster, startCluster } from './database.ts';
import { type Parley, startParley } from './parley.ts';

/** What the cases share: one server on one database, with its channels, and one HTTP load. */
export interface Workspace {
  cluster: Cluster;
  databaseUrl: string;
  parley: Parley;
  http: Child<string>;
  /** Of the member. */
  authorization: { authorization: string };
  /** Empty channels to post into. */
  channels: string[];
  quick: boolean;
  rounds: number;
  /** How long an HTTP load runs in each round. */
  seconds: number;
  stop(): Promise<void>;
}

export const CONNECTIONS = 16;

/** Of a usual length. */
export const CONTENT =
  'The nightly import took eleven minutes instead of four: the new index is not used while the old statistics are there. I would analyse the table once more and look again tomorrow.';

export async function openWorkspace({ quick }: { quick: boolean }): Promise<Workspace> {
  const closers: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const cluster = await startCluster();
    closers.push(cluster.stop);
    const databaseUrl = await cluster.createDatabase('workspace');
    const parley = await startParley({ databaseUrl });
    closers.push(parley.stop);
    const http = await startChild<string>('load/http.ts', 'load', null);
    closers.push(http.stop);
    const channels: string[] = [];
    for (let made = 0; made < CONNECTIONS; made += 1) channels.push(await createChannel(parley));
    return {
      cluster,
      databaseUrl,
      parley,
      http,
      authorization: { authorization: `Bearer ${parley.token}` },
      channels,
      quick,
      rounds: quick ? 2 : 5,
      seconds: quick ? 2 : 4,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A channel that the member may write in. */
export async function createChannel({ asAdministrator, userId }: Parley): Promise<string> {
  const grant = { principal_type: 'user', principal_id: userId, permission: 'write' };
  const { id } = await asAdministrator<{ id: string }>('POST /channels/create', {
    name: 'bench',
    access_grants: [grant],
  });
  return id;
}
