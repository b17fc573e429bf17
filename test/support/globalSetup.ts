import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { TABLES } from '../../src/cli/partition.ts';
import { migrate, openOrm } from '../../src/database/orm.ts';
import { divideTables } from '../../src/database/tables.ts';
import { entities } from '../../src/entities.ts';
import { installQueue } from '../../src/jobs/install.ts';
import { shareWeights } from './board.ts';
import { bundleServer } from './bundle.ts';
import { startCluster } from './cluster.ts';
import { inDatabase, quoteName, TEMPLATE, urlOf, withClient } from './database.ts';
import { sharedEnvironment } from './python.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The address of the PostgreSQL cluster of the run, with a database of the migrated schema to copy from.
     */
    clusterUrl: string;
  }
}

/**
 * Starts one cluster for the run and migrates the schema once; each test file copies it. `DATABASE_URL_TEST`
 * names another PostgreSQL to run the tests on, whose role may create databases. `TEST_PARTS` divides the tables of messages. Meanwhile makes what workers would otherwise make at
 * once.
 */
export default async function setup(project: TestProject) {
  const [{ url, stop }] = await Promise.all([prepareDatabase(), preparePython(), buildPage(), bundle()]);
  project.provide('clusterUrl', url);
  return stop;
}

async function prepareDatabase() {
  const own = process.env.DATABASE_URL_TEST;
  const { url, stop } = own ? { url: own, stop: async () => {} } : await startOwn();
  await withClient(url, async (client) => {
    await client.query(`drop database if exists ${quoteName(TEMPLATE)}`);
    await client.query(`create database ${quoteName(TEMPLATE)}`);
  });
  const orm = await openOrm(entities, { url: inDatabase(url, TEMPLATE) });
  await migrate(orm, installQueue);
  const { TEST_PARTS } = process.env;
  if (TEST_PARTS)
    await divideTables(orm, { tables: TABLES, by: 'channel_id', into: Number(TEST_PARTS) }, () => {});
  await orm.close(true);
  return { url, stop };
}

/** Without Python, the tests that need it report that. */
async function preparePython() {
  await sharedEnvironment().catch((error: unknown) => console.warn(String(error)));
  await shareWeights().catch((error: unknown) =>
    console.warn(`Tests of the model on board are skipped: ${error}`),
  );
}

/** Tests open the page as `npm start` builds it. Does nothing while the page is fresh. */
async function buildPage() {
  const script = join(import.meta.dirname, '..', '..', 'web', 'build.ts');
  const build = spawn(process.execPath, [script, '--strict'], { stdio: 'inherit' });
  const [code] = await once(build, 'close');
  if (code !== 0) throw new Error('The page could not be built.');
}

/** For the workers, which begin with the environment of this process. Making the bundle takes longer than it saves a single file. */
async function bundle() {
  if (process.env.TEST_BUNDLE === 'on') process.env.TEST_MAIN = await bundleServer();
}

async function startOwn() {
  const { address, stop } = await startCluster();
  return { url: urlOf(address), stop };
}
