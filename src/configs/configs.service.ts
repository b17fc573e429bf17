import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { type AuditScope, record } from '../audit/audit.record.ts';
import { AppError, invalidMembers } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { notify } from '../database/notices.ts';
import type { Sql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { type AcceptOptions, acceptConfiguration, acceptOverrides } from './configs.accept.ts';
import { isFlat, mergeFlat, namespaceOf, setOverride } from './configs.flat.ts';
import { complete, isSet, nextOrigins, pickOverrides } from './configs.overrides.ts';
import { applyPins } from './configs.pins.ts';
import { findHistory, lockConfig, readConfig, storeConfig } from './configs.repository.ts';
import type { Configuration } from './settings/configs.schema.ts';
import { maskSecrets, restoreSecrets } from './settings/configs.secrets.ts';
import { changedPaths, type Tree, valueAt, withoutValue, withValue } from './settings/configs.settings.ts';

/** The parts of a scope that these services need; the command line has no others. */
export type ConfigScope = Pick<Scope<Actor | null>, 'sql' | 'configs' | 'actor'> & {
  egress: Pick<Scope['egress'], 'check'>;
} & AuditScope;

/** The whole configuration in force. Its secrets are masked by default. */
export function exportConfiguration(
  { configs }: ConfigScope,
  { secrets = false }: { secrets?: boolean | undefined } = {},
): Configuration {
  return secrets ? configs.current : maskSecrets(configs.current);
}

/** The result of a change. */
export interface ConfigurationChanged {
  revision: number;
  /** Dotted paths of the changed settings. */
  changed: string[];
}

export interface ImportInput extends AcceptOptions {
  config: Tree;
  /** Answers with the secrets in clear. */
  secrets?: boolean | undefined;
  /** Checks everything and stores nothing. */
  dry_run?: boolean | undefined;
}

/**
 * Replaces the whole configuration in one transaction; it is in force when this returns. Concurrent imports wait for the
 * lock of the row, so each is stored whole and the last one stays. A mask in place of a secret keeps the stored one.
 *
 * @throws config_newer when the object was exported by a newer version
 * @throws validation naming missing or wrong members, and masks of secrets that are not stored
 * @throws config_locked when it would change a setting that an environment variable pins
 * @throws address_refused for a new `webhook_url` that may not be called
 * @returns the stored configuration; a header of the answer names the changed settings
 */
export async function importConfiguration(scope: Scope, input: ImportInput): Promise<Configuration> {
  if (input.dry_run) return tryConfiguration(scope, input);
  const { changed } = await replaceConfiguration(scope, input, 'import');
  scope.reply.nameChanged?.(changed);
  return exportConfiguration(scope, input);
}

/** The configuration that an import would store; a header of the answer names the settings that it would change. Stores nothing. */
async function tryConfiguration(scope: Scope, input: ImportInput): Promise<Configuration> {
  const { configs, sql } = scope;
  const stored = configs.open((await readConfig(sql)).data);
  const next = withoutPins(scope, stored, restoreWithin(scope, accepted(input, stored), stored));
  scope.reply.nameChanged?.(changedPaths(complete(stored), complete(next)));
  const shown = applyPins(complete(next), configs.pins);
  return input.secrets ? shown : maskSecrets(shown);
}

/** Like `importConfiguration`, but returns the changes. */
export async function replaceConfiguration(
  scope: ConfigScope,
  input: ImportInput,
  origin: 'import' | 'command',
): Promise<ConfigurationChanged> {
  const isWhole = !isFlat(input.config);
  // A whole object is refused before the row is locked.
  const sent = isWhole ? acceptConfiguration(input.config, input) : undefined;
  return change(scope, origin, async (stored) =>
    restoreWithin(scope, sent ?? accepted(input, stored), stored),
  );
}

/** The overrides after an import. The flat form keeps the stored ones that it does not name. @throws as `acceptConfiguration` */
const accepted = (input: ImportInput, stored: Tree): Tree =>
  isFlat(input.config)
    ? acceptOverrides(mergeFlat(stored, input.config))
    : acceptConfiguration(input.config, input);

/** The settings below a dotted prefix, secrets masked. */
export const readNamespace = (scope: ConfigScope, namespace: string): Tree =>
  namespaceOf(exportConfiguration(scope), namespace);

/**
 * The overrides that were sent with the stored secrets in place of their masks.
 *
 * @throws validation for masks of secrets that are not stored, config_locked, address_refused
 */
function restoreWithin(scope: ConfigScope, sent: Tree, stored: Tree): Tree {
  const before = complete(stored);
  const { restored, unknown } = restoreSecrets(complete(sent), applyPins(before, scope.configs.pins));
  if (unknown.length > 0) {
    const message = 'is masked, but no secret is stored for it here: send the secret itself';
    throw invalidMembers(unknown.map((path) => ({ path, message })));
  }
  refuseLocked(scope, restored, before);
  refuseInner(scope, restored, before);
  return pickOverrides(restored, sent);
}

/** This server calls the address, so it must be allowed. A stored address is not checked here, but at each call. */
function refuseInner(
  { egress }: ConfigScope,
  { webhook_url: url }: Configuration,
  stored: Configuration,
): void {
  if (url === '' || url === stored.webhook_url) return;
  try {
    egress.check(url);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message } = error;
    throw new AppError(code, {
      detail: `webhook_url: ${message}`,
      issues: [{ path: 'webhook_url', message }],
    });
  }
}

/** The stored value of a pinned setting stays, so that it is in force again when the variable is removed. */
const withoutPins = ({ configs }: ConfigScope, stored: Tree, next: Tree): Tree =>
  configs.pins.reduce(
    (tree, { path }) =>
      isSet(stored, path) ? withValue(tree, path, valueAt(stored, path)) : withoutValue(tree, path),
    next,
  );

interface NewValue {
  /** Dotted. */
  path: string;
  value: unknown;
}

/**
 * Replaces single settings; all others stay, also those that a concurrent import changes. A mask in place of a secret keeps the
 * stored one.
 *
 * @throws validation, config_locked
 */
export async function changeSettings(scope: ConfigScope, values: readonly NewValue[]): Promise<void> {
  await change(scope, 'import', async (stored) => {
    const next = values.reduce((tree, { path, value }) => setOverride(tree, path, value), stored);
    return restoreWithin(scope, acceptOverrides(next), stored);
  });
}

/** A pinned setting may be sent with the pinned or with the stored value; neither changes it. */
function refuseLocked({ configs }: ConfigScope, sent: Configuration, stored: Configuration): void {
  const locked = configs.pins.filter(({ path, value }) => {
    const given = valueAt(sent, path);
    return !isDeepStrictEqual(given, value) && !isDeepStrictEqual(given, valueAt(stored, path));
  });
  const [first] = locked;
  if (!first) return;
  throw new AppError('config_locked', {
    detail: `${first.path} is pinned by the environment variable ${first.variable} of the server. Leave it as it is, or change the variable.`,
    issues: locked.map(({ path, variable }) => ({ path, message: `is pinned by ${variable}` })),
  });
}

/**
 * Puts an earlier configuration in force again, with its secrets, as a new entry of the history. Settings that the environment
 * pins stay pinned.
 *
 * @throws not_found, config_newer
 */
export async function rollbackConfiguration(
  scope: ConfigScope,
  { id, secrets }: { id: string; secrets?: boolean | undefined },
): Promise<Configuration> {
  await change(scope, 'rollback', async (_stored, sql) => {
    const earlier = await findHistory(sql, id);
    if (!earlier) throw new AppError('not_found', { detail: 'The history has no such entry.' });
    return scope.configs.open(earlier);
  });
  return exportConfiguration(scope, { secrets });
}

const valuesAt = (tree: Tree, paths: readonly string[]): Tree =>
  Object.fromEntries(paths.map((path) => [path, valueAt(tree, path)]));

/** Stores the overrides that `decide` makes from the stored ones, and puts them in force. The row is locked meanwhile. */
async function change(
  scope: ConfigScope,
  how: 'import' | 'rollback' | 'command',
  decide: (stored: Tree, sql: Sql) => Promise<Tree>,
): Promise<ConfigurationChanged> {
  const { sql, configs, actor } = scope;
  const { next, revision, changed } = await transaction({ sql }, async (tx) => {
    const row = await lockConfig(tx);
    const stored = configs.open(row.data);
    const next = withoutPins(scope, stored, await decide(stored, tx));
    const revision = row.revision + 1;
    const [before, after] = [complete(stored), complete(next)];
    const changed = changedPaths(before, after);
    const origin = { at: nowSeconds(), by: actor?.id ?? null };
    await storeConfig(tx, {
      id: uuidv7(),
      revision,
      data: configs.seal(next),
      origin: how,
      changed,
      origins: nextOrigins(row.origins, stored, next, origin),
      ...origin,
    });
    await record(scope, tx, {
      action: how === 'rollback' ? 'config.rollback' : 'config.import',
      target: { type: 'config', id: String(revision) },
      before: valuesAt(maskSecrets(before), changed),
      after: valuesAt(maskSecrets(after), changed),
    });
    await notify(tx, 'config.stored', { revision });
    return { next, revision, changed };
  });
  configs.adopt(next, revision);
  return { revision, changed };
}
