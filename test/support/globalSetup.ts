import type { TestProject } from 'vitest/node';
import { migrate, openOrm } from '../../src/database/orm.ts';
import { entities } from '../../src/entities.ts';
import { startCluster } from './cluster.ts';
import { quoteName, TEMPLATE, urlOf, withClient } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the run's PostgreSQL cluster, with a database of the migrated schema to copy from. */
    clusterUrl: string;
  }
}

/** One cluster for the run, with the schema migrated once; each test file copies it. */
export default async function setup(project: TestProject) {
  const { address, stop } = await startCluster();
  await withClient(urlOf(address), (client) => client.query(`create database ${quoteName(TEMPLATE)}`));
  const orm = await openOrm(entities, { url: urlOf({ ...address, dbName: TEMPLATE }) });
  await migrate(orm);
  await orm.close(true);
  project.provide('clusterUrl', urlOf(address));
  return stop;
}
