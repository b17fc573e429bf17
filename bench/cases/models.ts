import { setTimeout as delay } from 'node:timers/promises';
import { startChild } from '../support/child.ts';
import { compare, httpContender } from '../support/contenders.ts';
import { urlOf } from '../support/database.ts';
import { type Parley, startParley } from '../support/parley.ts';
import { plainResult, type Result } from '../support/report.ts';
import { countRoundTrips } from '../support/roundTrips.ts';
import type { Workspace } from '../support/workspace.ts';

const CONNECTIONS = 20;
const MODELS = 100;

interface Office {
  parley: Parley;
  /** Round trips of one call to PostgreSQL. */
  statements(): Promise<number>;
  stop(): Promise<void>;
}

/** The list of all models of twenty connections, of which one died after its list had come, against all alive. */
export async function models(workspace: Workspace): Promise<Result[]> {
  await using providers = await startChild<string>('load/providers.ts', 'load', { models: MODELS });
  await using dying = await startChild<string>('load/providers.ts', 'load', { models: MODELS });
  const alive = await openOffice(workspace, 'models_alive', providers.first);
  const wounded = await openOffice(workspace, 'models_dead', dying.first);
  try {
    await dying.ask({ dead: 0 });
    // From here on the server waits for an answer of the dead one, in the background.
    await wounded.parley.asAdministrator('GET /models?refresh=true');
    const contender = ({ parley }: Office) =>
      httpContender(workspace, parley, {
        paths: ['/api/v1/models'],
        headers: { authorization: `Bearer ${parley.token}` },
      });
    return [
      await compare({
        what: `list ${CONNECTIONS * MODELS} models of ${CONNECTIONS} connections, one of them dead`,
        ours: contender(wounded),
        baseline: contender(alive),
        against: 'all alive',
        atLeast: 0.95,
        rounds: workspace.rounds,
      }),
      plainResult('statements: list models', 'round trips', await wounded.statements(), 2),
    ];
  } finally {
    await alive.stop();
    await wounded.stop();
  }
}

async function openOffice({ cluster }: Workspace, name: string, providers: string): Promise<Office> {
  await cluster.createDatabase(name);
  const counter = await countRoundTrips(cluster.address);
  const parley = await startParley({
    databaseUrl: urlOf({ ...cluster.address, host: counter.host }, name),
    env: { EMBEDDED_MODEL: 'off' },
  });
  await connect(parley, providers);
  return {
    parley,
    async statements() {
      const counts: number[] = [];
      for (let call = 0; call < 10; call += 1) {
        const before = counter.count();
        await parley.call('GET /models');
        counts.push(counter.count() - before);
      }
      return Math.min(...counts);
    },
    async stop() {
      await parley.stop();
      await counter.stop();
    },
  };
}

/** Connects all providers, opens their models to members, and waits for the lists. */
async function connect({ asAdministrator, call }: Parley, providers: string): Promise<void> {
  const configuration = await asAdministrator<Record<string, object>>('GET /configs/export');
  const numbers = [...Array(CONNECTIONS).keys()];
  await asAdministrator('POST /configs/import', {
    ...configuration,
    models: { ...configuration.models, open_provider_models: true },
    hosted_model_api: {
      enable: true,
      api_base_urls: numbers.map((number) => `${providers}/${number}/v1`),
      api_keys: numbers.map(() => 'key'),
      api_configs: {},
    },
  });
  const end = Date.now() + 30_000;
  const countOf = async () => (await call<{ data: unknown[] }>('GET /models')).data.length;
  while ((await countOf()) < CONNECTIONS * MODELS) {
    if (Date.now() > end) throw new Error('The lists of models did not come.');
    await delay(100);
  }
}
