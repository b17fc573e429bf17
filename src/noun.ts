import type { AnyRouter } from '@trpc/server';
import type { ErrorSpec } from './core/errors.ts';
import type { SharedStore } from './core/limits/limits.ts';
import type { DeclareMetrics } from './core/metrics.ts';
import type { PartState } from './core/readiness.ts';
import type { Grantable } from './core/rules.ts';
import type { ActingScope, Parts } from './core/scope.ts';
import type { Secret } from './core/secrets/keys.ts';
import type { Tally } from './database/reseal.ts';
import type { Sql } from './database/sql.ts';
import type { Env } from './env.ts';
import type { StreamKind } from './events/streams.ts';
import type { JobKind } from './jobs/kind.ts';

declare module './core/scope.ts' {
  interface Parts {
    /** What each noun does when an account is deleted, in this order. */
    readonly accountDeletion: readonly OnAccountDeleted[];
    /** What each kind of resource that rights can be granted to declares. */
    readonly grantable: readonly Grantable[];
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
  /** The kind of its streams, if it has events: subscribers at every door get them, with replay and revocation. */
  streams?(sql: Sql): StreamKind;
  /** Seals its stored secrets with the secret in use, where an older one of the list has sealed them. */
  reseal?(sql: Sql, secret: Secret): Promise<Tally[]>;
  /** Its kinds of durable work. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
  jobs?: readonly JobKind<any>[];
  /** Declares what `GET /metrics` reads of it at each scrape; what it counts stands in the registry of the process. */
  metrics?: DeclareMetrics;
  /** What `GET /ready` tells of it. Must not wait. */
  readiness?(parts: Parts): Record<string, PartState>;
  /** Starts what it keeps in each server process, in the order of `nouns.ts`. */
  start?(base: Base): Started | Promise<Started>;
  /** Required where a table refers to accounts: code; or that foreign keys decide; or that the rows stay as they are. */
  onAccountDeleted?: OnAccountDeleted | 'foreign keys decide' | 'rows stay';
  /** When rights can be granted to its things. */
  grantable?: Grantable;
}

/** What a noun starts from: the parts that belong to no noun, and the configuration. */
export type Base = Pick<
  Parts,
  'orm' | 'sql' | 'bus' | 'hub' | 'log' | 'python' | 'board' | 'egress' | 'secret' | 'configs' | 'presence'
> & {
  env: Env;
  /** The store that the processes of an installation share; null for a single process. */
  shared: SharedStore;
  /** For failures of work in the background: logs them with this sentence. */
  warn(sentence: string): (error: unknown) => void;
};

export interface Started {
  /** What the noun's services find in their scope. */
  parts?: Partial<Parts>;
  close?(): unknown;
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
