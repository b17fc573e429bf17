import { divideTables } from '../database/tables.ts';
import { showProgress } from '../progress.ts';
import type { CommandContext } from './context.ts';

import { connect, occupyAlone, requireTables } from './workplace.ts';

/** The tables that grow with messages. Their keys and the conditions of their frequent statements begin with the channel. */
export const TABLES = [
  'message',
  'message_file',
  'message_mention',
  'message_reaction',
  'message_temp_id',
  'channel_event',
];

/**
 * Divides the tables of messages by the hash of their channel, in one transaction. One part means ordinary tables. The rows are
 * copied, so the disk needs room for a second copy.
 *
 * @throws StartError while a server runs
 */
export async function partition(
  { into }: { into: number },
  { env, log, stdout }: CommandContext,
): Promise<void> {
  const connection = await connect(env, log, { alone: true });
  let copied = 0;
  const endProgress = showProgress((seconds) => `${seconds} s: ${copied} of ${TABLES.length} tables so far.`);
  try {
    await requireTables(connection);
    const occupancy = await occupyAlone(connection, log);
    try {
      await divideTables(connection.orm, { tables: TABLES, by: 'channel_id', into }, () => {
        copied += 1;
      });
    } finally {
      await occupancy.release();
    }
    endProgress();
    stdout.write(`${TABLES.join(', ')}: ${into === 1 ? 'one table each' : `${into} parts each`}.\n`);
  } finally {
    endProgress();
    await connection.close();
  }
}
