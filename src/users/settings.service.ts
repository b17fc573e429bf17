import { may } from '../access/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { LIMITS } from '../core/wire.ts';
import { mergeSettings, readSettings } from './settings.repository.ts';

/** An index holds it, and PostgreSQL's entries are bounded. */
const WEBHOOK_BYTES = 2_000;

export type Settings = Record<string, unknown> & { ui: Record<string, unknown> };

const complete = (stored: Record<string, unknown>): Settings => ({ ...stored, ui: objectOf(stored.ui) });

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** What the caller's clients keep for them. */
export async function getSettings(scope: Scope): Promise<Settings> {
  return complete(await readSettings(scope.sql, scope.actor.id));
}

/**
 * Replaces the members that are sent and keeps the others. Tool servers of one's own are dropped unless the caller may have any.
 *
 * @throws validation when it is too large or its webhook is no text, address_refused when that may not be called
 */
export async function updateSettings(scope: Scope, sent: Record<string, unknown>): Promise<Settings> {
  const changes = { ...sent };
  if ('ui' in changes) changes.ui = checkedUi(scope, changes.ui);
  const stored = await mergeSettings(scope.sql, scope.actor.id, changes, LIMITS.freeFormBytes);
  if (!stored)
    throw invalid(
      'settings',
      `must be at most ${LIMITS.freeFormBytes} bytes as JSON, together with what is there`,
    );
  return complete(stored);
}

function checkedUi(scope: Scope, sent: unknown): Record<string, unknown> {
  const ui = objectOf(sent);
  if (!may(scope, 'features.direct_tool_servers')) delete ui.toolServers;
  const { webhook_url: url = null } = objectOf(ui.notifications);
  if (url === null || url === '') return ui;
  if (typeof url !== 'string' || Buffer.byteLength(url) > WEBHOOK_BYTES) {
    throw invalid('ui.notifications.webhook_url', `must be an address of at most ${WEBHOOK_BYTES} bytes`);
  }
  scope.egress.check(url);
  return ui;
}

function invalid(path: string, message: string): AppError {
  return new AppError('validation', { detail: `${path}: ${message}`, issues: [{ path, message }] });
}
