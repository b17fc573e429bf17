import { createTwoFilesPatch } from 'diff';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { requireRight } from '../tools.access.ts';
import { changeTool } from '../tools.service.ts';
import { listHistory, readSnapshot, removeVersion } from './versions.repository.ts';
import type { ToolHistoryDiff, ToolHistorySnapshot } from './versions.schema.ts';

/* The versions of a tool's source, with the names that clients of Open WebUI use. */

/** As in Open WebUI. */
const PAGE_ENTRIES = 20;
/** Larger differences, and those that take longer to compare, are shown as a replacement. */
const MOST_EDITS = 2_000;
const COMPARISON_MS = 100;

const noSuchVersion = () => new AppError('not_found', { detail: 'The tool has no such version.' });

/** @throws not_found for a text that is not a version number */
export function versionOf(id: string): number {
  const version = /^[1-9]\d{0,8}$/.test(id) ? Number(id) : 0;
  if (version === 0) throw noSuchVersion();
  return version;
}

/** @throws not_found, tool_forbidden */
export async function getHistory(scope: Scope, toolId: string, page: number) {
  const { id } = await requireRight(scope, toolId, 'write');
  return listHistory(scope.sql, id, { skip: (page - 1) * PAGE_ENTRIES, limit: PAGE_ENTRIES });
}

/** @throws not_found, tool_forbidden */
export async function getHistoryEntry(
  scope: Scope,
  toolId: string,
  entryId: string,
): Promise<ToolHistorySnapshot> {
  const { id } = await requireRight(scope, toolId, 'write');
  const found = await readSnapshot(scope.sql, id, versionOf(entryId));
  if (!found) throw noSuchVersion();
  return found;
}

/** The difference between two versions of the source. @throws not_found, tool_forbidden */
export async function compareHistory(
  scope: Scope,
  toolId: string,
  ids: { from_id: string; to_id: string },
): Promise<ToolHistoryDiff> {
  const from = (await getHistoryEntry(scope, toolId, ids.from_id)).snapshot.content;
  const to = (await getHistoryEntry(scope, toolId, ids.to_id)).snapshot.content;
  const lines = (text: string) => text.replaceAll(/\r\n?/g, '\n').replace(/\n?$/, '\n');
  const isSame = lines(from) === lines(to);
  const content_diff = isSame ? '' : compare(lines(from), lines(to));
  return { ...ids, metadata: {}, content_diff, line_endings_only: isSame && from !== to };
}

function compare(from: string, to: string): string {
  const options = { context: 3, maxEditLength: MOST_EDITS, timeout: COMPARISON_MS };
  const patch = createTwoFilesPatch('selected.py', 'production.py', from, to, undefined, undefined, options);
  return (patch ?? replaced(from, to))
    .replace(/^=+\n/, '')
    .replace(/^(---|\+\+\+) (\S+)\t$/gm, '$1 $2')
    .trimEnd();
}

/** Removes all old lines and adds all new ones. */
function replaced(from: string, to: string): string {
  const [old, now] = [from, to].map((text) => text.trimEnd().split('\n'));
  const marked = (lines: string[] = [], mark: string) => lines.map((line) => `${mark}${line}`);
  const head = ['--- selected.py', '+++ production.py', `@@ -1,${old?.length} +1,${now?.length} @@`];
  return [...head, ...marked(old, '-'), ...marked(now, '+')].join('\n');
}

/** Deletes a version that is not current. @throws not_found, tool_forbidden, conflict */
export async function deleteHistoryEntry(scope: Scope, toolId: string, entryId: string): Promise<true> {
  const { id } = await requireRight(scope, toolId, 'write');
  const version = versionOf(entryId);
  await changeTool(scope, id, async (row, tx) => {
    if (row.version === version) {
      throw new AppError('bad_request', { detail: 'The version is in force and cannot be deleted.' });
    }
    if (!(await removeVersion(tx, id, version))) throw noSuchVersion();
  });
  return true;
}
