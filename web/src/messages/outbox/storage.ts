import type { Entry } from './entry.ts';

/** Each entry has its own key, so that two tabs do not overwrite each other's entries. */
const prefixOf = (accountId: string) => `parley.outbox.${accountId}.`;

function isEntry(value: unknown): value is Entry {
  return (
    typeof value === 'object' &&
    value !== null &&
    'tempId' in value &&
    'channelId' in value &&
    'content' in value &&
    'files' in value &&
    Array.isArray(value.files)
  );
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** The kept entries of an account, the oldest first. */
export function entriesIn(accountId: string): Entry[] {
  const prefix = prefixOf(accountId);
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(prefix))
    .map((key) => parse(localStorage.getItem(key)))
    .filter(isEntry)
    .sort((a, b) => a.createdAt - b.createdAt);
}

/** A full storage is no reason to refuse the message: it is then kept until the page closes. */
export function keep(accountId: string, entry: Entry): void {
  try {
    localStorage.setItem(prefixOf(accountId) + entry.tempId, JSON.stringify(entry));
  } catch (error) {
    console.warn('The storage of the browser is full.', error);
  }
}

export const forget = (accountId: string, tempId: string): void =>
  localStorage.removeItem(prefixOf(accountId) + tempId);
