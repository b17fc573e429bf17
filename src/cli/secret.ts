import { record } from '../audit/audit.record.ts';
import { openSql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { acceptSecret } from '../secret.stored.ts';
import { loadSecret } from '../secret.ts';
import type { CommandContext } from './context.ts';
import { connect, occupyAlone, requireTables } from './workplace.ts';

/**
 * Accepts the secret of the environment for a database that was written with another secret.
 *
 * @throws StartError while a server runs
 */
export async function secretAccept({ env, log, stdout }: CommandContext): Promise<void> {
  const connection = await connect(env, log, { alone: true });
  try {
    const occupancy = await occupyAlone(connection, log);
    try {
      await requireTables(connection);
      const sql = await openSql(connection.orm);
      const secret = await loadSecret(env);
      const tally = await transaction({ sql }, async (tx) => {
        const tally = await acceptSecret(tx, secret);
        if (tally) {
          await record({ actor: null }, tx, { action: 'secret.accept', after: { lost: tally.lost } });
        }
        return tally;
      });
      stdout.write(tally ? outcome(tally.lost) : 'This secret is the one in use.\n');
    } finally {
      await occupancy.release();
    }
  } finally {
    await connection.close();
  }
}

const outcome = (lost: number): string =>
  lost === 0
    ? 'This secret is in use now. Everything that is stored can be read with it.\n'
    : `This secret is in use now. ${lost} stored secrets cannot be read with it: set them anew. Should the old secret be found, start once with it behind this one.\n`;
