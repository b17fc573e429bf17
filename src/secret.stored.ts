import type { Logger } from 'pino';
import { beginConfig, readMark, writeMark } from './configs/configs.repository.ts';
import { type Secret, secretsOf } from './core/secrets/keys.ts';
import { renew, seal } from './core/secrets/seal.ts';
import { emptyTally, type Tally } from './database/reseal.ts';
import type { Sql } from './database/sql.ts';
import { StartError } from './env.ts';
import type { Noun } from './noun.ts';
import { nouns } from './nouns.ts';
import { COMMAND } from './program.ts';

/** The mark is a sealed empty text: the secret that opens it is the secret that the database was written with. */
const MARK_FOR = { purpose: 'secret-mark', place: 'config' } as const;

const refusal = () =>
  new StartError(
    'What this database holds was sealed with another SECRET_KEY than this one, so nothing was started or changed. Put the old one back ' +
      '(DATA_DIR/secret.key, where none was set), or write it behind the new one, after a comma. If it is lost: ' +
      `${COMMAND} secret accept.`,
  );

/** Seals texts anew that an older secret of the list has sealed. Texts that no secret opens stay as they are. */
async function resealAll(sql: Sql, secret: Secret): Promise<Tally> {
  const tallies: Tally[] = [];
  for (const { reseal } of nouns as readonly Noun[]) tallies.push(...((await reseal?.(sql, secret)) ?? []));
  return tallies.reduce(
    (sum, { current, renewed, lost }) => ({
      current: sum.current + current,
      renewed: sum.renewed + renewed,
      lost: sum.lost + lost,
    }),
    emptyTally(),
  );
}

const stateOf = (secret: Secret, mark: string) => renew(secret, mark, MARK_FOR).state;

/**
 * Checks that the secret is the one that the database was written with: with another one, sealed values would count as not set. Seals
 * everything with the newest secret of the list, and writes the mark last, so that an interrupted run is repeated.
 *
 * A database without a mark is new, or of a version that made none. Then its sealed texts decide: when there are some and none can be
 * opened, the secret is another one.
 *
 * @throws StartError when it is another one
 */
export async function claimSecret(sql: Sql, secret: Secret, log: Logger): Promise<void> {
  await beginConfig(sql);
  const mark = await readMark(sql);
  const state = mark && stateOf(secret, mark);
  if (state === 'lost') throw refusal();
  if (state === 'current' && secretsOf(secret).length === 1) return;
  const { current, renewed, lost } = await resealAll(sql, secret);
  if (state === null && lost > 0 && current + renewed === 0) throw refusal();
  if (renewed > 0)
    log.info(`What is stored is sealed with the newest SECRET_KEY; ${renewed} texts were not before.`);
  if (lost > 0) log.warn(`${lost} stored secrets can be read with no SECRET_KEY of the list.`);
  if (state !== 'current') await writeMark(sql, seal(secret, '', MARK_FOR));
}

/**
 * The same for commands that run beside the servers: with another secret, one could not read what the other has sealed.
 *
 * @throws StartError when the servers have another secret, or a list that begins with another
 */
export async function requireSecret(sql: Sql, secret: Secret): Promise<void> {
  const mark = await readMark(sql);
  const state = mark && stateOf(secret, mark);
  if (state === 'lost') throw refusal();
  if (state === 'renewed') {
    throw new StartError(
      'The first SECRET_KEY of the list is not in use yet. Start the server with it once, which seals with it what is stored.',
    );
  }
}

/**
 * Marks the database with a secret that may be another one than it was written with. Nothing is deleted: values that cannot be read
 * count as not set, and a start with the old secret behind this one reads them again unless they were set anew.
 *
 * @returns the counts of readable and lost texts; null when the secret is already in use
 */
export async function acceptSecret(sql: Sql, secret: Secret): Promise<Tally | null> {
  await beginConfig(sql);
  const mark = await readMark(sql);
  if (mark && stateOf(secret, mark) === 'current') return null;
  const tally = await resealAll(sql, secret);
  await writeMark(sql, seal(secret, '', MARK_FOR));
  return tally;
}
