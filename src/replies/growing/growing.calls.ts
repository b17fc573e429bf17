import type { ToolCallRecord } from '../../completions/completions.types.ts';

/** What all calls of a reply take in `data` at most, roughly. */
const ALL_CHARACTERS = 96 * 1024;
const CALLS = 100;
const STATUSES = 20;
const SHOWN_FILES = 10;
const STATUS_CHARACTERS = 500;
/** A longer item holds the file itself: it stands in `data.files` of the message alone. */
const FILE_CHARACTERS = 1_000;

/** The calls of tools for `data.tool_calls`: long texts are cut, so that they fit into the row. */
export function shownCalls(calls: readonly ToolCallRecord[]): ToolCallRecord[] {
  const shown = calls.slice(-CALLS);
  const most = Math.floor(ALL_CHARACTERS / (2 * Math.max(4, shown.length)));
  return shown.map((call) => ({
    ...call,
    arguments: cut(call.arguments, most),
    result: call.result === null ? null : cut(call.result, most),
    files: call.files.filter((file) => lengthOf(file) <= FILE_CHARACTERS).slice(0, SHOWN_FILES),
    statuses: call.statuses.slice(-STATUSES).map((status) => cut(status, STATUS_CHARACTERS)),
  }));
}

/** The length as JSON. */
export const lengthOf = (value: object): number => JSON.stringify(value).length;

const cut = (text: string, characters: number): string =>
  (text.length <= characters ? text : `${text.slice(0, characters)} […]`).toWellFormed();

/** Text that PostgreSQL can store: without NUL and without halves of characters. */
export const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** JSON of such texts. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_name, member) => (typeof member === 'string' ? storable(member) : member));
