import { DatabaseError, migrate } from '../database/orm.ts';
import { StartError } from '../env.ts';
import { installQueue } from '../jobs/install.ts';
import type { CommandContext } from './context.ts';
import { connect } from './workplace.ts';

/**
 * Brings the tables up to date, as the start of a server does. With `plan` it only names the changes.
 *
 * @throws StartError when the tables cannot be changed
 */
export async function migrateTables(
  { plan = false }: { plan?: boolean },
  { env, log, stdout }: CommandContext,
): Promise<void> {
  const connection = await connect(env, log);
  try {
    const { orm } = connection;
    const pending = await orm.migrator.getPending();
    if (plan) {
      stdout.write(pending.map(({ name }) => `${name}\n`).join(''));
      return;
    }
    await migrate(orm, installQueue);
    stdout.write(`The tables are up to date (${pending.length} changes).\n`);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw new StartError(`Cannot use the database: ${error.message}.`, { cause: error });
  } finally {
    await connection.close();
  }
}
