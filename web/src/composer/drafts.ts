import type { Mention } from './mentions.ts';
import type { SentFile } from './types.ts';

/** What a person has written and not sent, in one channel or thread. */
export interface StoredDraft {
  text: string;
  mentions: Mention[];
  /** Files that are uploaded already. */
  files: SentFile[];
}

const EMPTY: StoredDraft = { text: '', mentions: [], files: [] };

/** Drafts belong to the account: another one may sign in on the same browser. */
export const draftKey = (userId: string, channelId: string, threadId?: string): string =>
  ['parley.draft', userId, channelId, ...(threadId ? [threadId] : [])].join('.');

export function readDraft(key: string): StoredDraft {
  try {
    return { ...EMPTY, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<StoredDraft>) };
  } catch {
    return EMPTY;
  }
}

export function updateDraft(key: string, changes: Partial<StoredDraft>): void {
  const draft = { ...readDraft(key), ...changes };
  try {
    if (draft.text === '' && draft.files.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // The store of the browser is full: the draft lives until the page is closed.
  }
}
