import { isDeepStrictEqual } from 'node:util';
import { may } from '../configs/settings/permissions.ts';
import { invalid } from '../core/errors.ts';
import { isObject } from '../core/json/json.ts';
import type { Scope } from '../core/scope.ts';
import { LIMITS } from '../core/wire.ts';
import { listUserValves, updateValves } from '../tools/valves/valves.service.ts';
import { mergeSettings, readSettings } from './settings.repository.ts';

/** An index contains the address, and PostgreSQL limits the size of index entries. */
const WEBHOOK_BYTES = 2_000;

type Tree = Record<string, unknown>;
export type Settings = Tree & { ui: Tree };

const objectOf = (value: unknown): Tree => (isObject(value) ? { ...value } : {});

/**
 * The stored settings, with the caller's own tool valves under `tools.valves`. Valves are stored separately.
 */
async function complete(scope: Scope, reading: Promise<Tree> | Tree): Promise<Settings> {
  const [stored, valves] = await Promise.all([reading, listUserValves(scope)]);
  const { valves: _, ...tools } = objectOf(stored.tools);
  const hasTools = stored.tools !== undefined || Object.keys(valves).length > 0;
  return { ...stored, ui: objectOf(stored.ui), ...(hasTools && { tools: { ...tools, valves } }) };
}

/** Settings of the caller's clients. */
export async function getSettings(scope: Scope): Promise<Settings> {
  return complete(scope, readSettings(scope.sql, scope.actor.id));
}

/**
 * Replaces the members that are sent and keeps the others. `ui` is merged by its members, of which null
 * removes one; null for `ui` itself empties it. `tools.valves.<tool id>` sets the caller's own valves of that
 * tool, as the tool's own procedure does. The caller's own tool servers are dropped without the permission
 * for them.
 *
 * @throws validation if the settings are too large or the webhook is not text, address_refused if its address
 *   is not allowed
 * @throws errors of setting user valves; valves that were set before the error stay set
 */
export async function updateSettings(scope: Scope, sent: Tree): Promise<Settings> {
  const { ui, ...members } = sent;
  const change = { members: ui === null ? { ...members, ui: {} } : members, ui: checkedUi(scope, ui) };
  if ('tools' in members) {
    const { valves, ...tools } = objectOf(members.tools);
    await setUserValves(scope, objectOf(valves));
    change.members = { ...change.members, tools };
  }
  const stored = await mergeSettings(scope.sql, scope.actor.id, change, LIMITS.freeFormBytes);
  if (!stored)
    throw invalid(
      'settings',
      `must be at most ${LIMITS.freeFormBytes} bytes as JSON, together with what is there`,
    );
  return complete(scope, stored);
}

/** Clients send back all settings that they received, so unchanged valves are not written again. */
async function setUserValves(scope: Scope, sent: Tree): Promise<void> {
  const stored = await listUserValves(scope);
  for (const [toolId, valves] of Object.entries(sent)) {
    const before = stored[toolId] ?? {};
    if (isDeepStrictEqual(before, valves)) continue;
    const emptied = Object.fromEntries(Object.keys(before).map((name) => [name, null]));
    await updateValves(scope, toolId, 'user_valves', valves === null ? emptied : objectOf(valves));
  }
}

function checkedUi(scope: Scope, sent: unknown): Record<string, unknown> {
  const ui = objectOf(sent);
  if (ui.toolServers !== null && !may(scope, 'features.direct_tool_servers')) delete ui.toolServers;
  const { webhook_url: url = null } = objectOf(ui.notifications);
  if (url === null || url === '') return ui;
  if (typeof url !== 'string' || Buffer.byteLength(url) > WEBHOOK_BYTES) {
    throw invalid('ui.notifications.webhook_url', `must be an address of at most ${WEBHOOK_BYTES} bytes`);
  }
  scope.egress.check(url);
  return ui;
}
