import type { Logger } from 'pino';
import { beginConfig, readMark, writeMark } from './configs/configs.repository.ts';
import { type Secret, secretsOf } from './core/secrets/keys.ts';
import { renew, seal } from './core/secrets/seal.ts';
import { emptyTally, type Tally } from './database/reseal.ts';
import type { Sql } from './database/sql.ts';
import { StartError } from './env.ts';
import type { Noun } from './noun.ts';
import { nouns } from './nouns.ts';

/** The mark is a sealed text of nothing: whatever opens it is the secret that the database was written with. */
const MARK_FOR = { purpose: 'secret-mark', place: 'config' } as const;

const refusal = () =>
  new StartError(
    'What this database holds was sealed with another SECRET_KEY than this one, so nothing was started or changed. Put the old one back ' +
      '(DATA_DIR/secret.key, where none was set), or write it behind the new one, after a comma. If it is lost: npm run parley -- secret accept.',
  );

/** Seals anew what older secrets of the list have sealed. What none of them opens stays as it is. */
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
 * Makes sure that the secret is the one that the database was written with, before anything that it sealed is read as if it were
 * not there. Seals everything with the newest of a list, and marks the database with that last: cut off before, it is done again.
 *
 * A database without a mark is new, or of a version that made none. Then what is sealed in it tells: where there is such, and
 * nothing of it can be read, the secret is another one.
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
 * The same for whoever comes beside the servers, and must neither read nor write what they could not.
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
 * Marks the database with a secret that may not be the one that it was written with. Nothing is deleted: what cannot be read counts as
 * not set, and can be read again by a start that has the old secret behind this one, as far as it was not set anew.
 *
 * @returns what could be read, and what not; null when the secret is the one in use already
 */
export async function acceptSecret(sql: Sql, secret: Secret): Promise<Tally | null> {
  await beginConfig(sql);
  const mark = await readMark(sql);
  if (mark && stateOf(secret, mark) === 'current') return null;
  const tally = await resealAll(sql, secret);
  await writeMark(sql, seal(secret, '', MARK_FOR));
  return tally;
}
