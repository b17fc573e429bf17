import type { AnyRouter } from '@trpc/server';
import type { Tally } from '../database/reseal.ts';
import type { Sql } from '../database/sql.ts';
import type { ErrorSpec } from './errors.ts';
import type { Secret } from './keys.ts';
import type { ActingScope } from './scope.ts';

declare module './scope.ts' {
  interface Parts {
    /** What each noun does when an account is deleted, in this order. */
    readonly accountDeletion: readonly OnAccountDeleted[];
  }
}

/**
 * What a noun brings to the program. Its folder holds the code; `nouns.ts` lists the declarations. The API, the tables, the rotation of
 * the secret and the deletion of accounts are made from that list.
 */
export interface Noun {
  /** The name of its folder in `src/`. */
  name: string;
  /** Its error codes; see `declareErrors`. */
  errors?: Record<string, ErrorSpec>;
  /** By their names in the typed client. */
  routers?: Record<string, AnyRouter>;
  entities?: readonly object[];
  /** Seals its stored secrets with the secret in use, where an older one of the list has sealed them. */
  reseal?(sql: Sql, secret: Secret): Promise<Tally[]>;
  /** Required where a table refers to accounts: code; or that foreign keys decide; or that the rows stay as they are. */
  onAccountDeleted?: OnAccountDeleted | 'foreign keys decide' | 'rows stay';
}

/**
 * Decides what happens to the things of an account, in the transaction that deletes it and before its row is deleted: what other
 * people use passes to the heir.
 */
export type OnAccountDeleted = (
  scope: ActingScope,
  tx: Sql,
  accounts: { deleted: string; heir: string },
) => Promise<DeletionOutcome>;

interface DeletionOutcome {
  /** Ids of the things that the heir has now, by the word that the audit log uses for them. */
  passed?: Record<string, string[]>;
  /** Is called after the commit. */
  publish?(): void;
}

export const defineNoun = <const N extends Noun>(noun: N): N => noun;
