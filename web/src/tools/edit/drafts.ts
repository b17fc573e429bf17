/** What a person edits of a tool. */
export interface Source {
  name: string;
  description: string;
  content: string;
}

/** Unsaved text, kept in this browser until it is saved or discarded. */
export interface Draft extends Source {
  /** The id of a new tool. */
  id?: string;
  /** The version that the text began with; null for a new tool. */
  versionId: string | null;
  /** Milliseconds. */
  savedAt: number;
}

const keyOf = (userId: string, toolId: string | null) => `parley.draft.${userId}.tool.${toolId ?? ''}`;

/** @param toolId null for a new tool */
export function readDraft(userId: string, toolId: string | null): Draft | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(userId, toolId)) ?? 'null') as Draft | null;
  } catch {
    return null;
  }
}

export function writeDraft(userId: string, toolId: string | null, draft: Omit<Draft, 'savedAt'>): void {
  try {
    localStorage.setItem(keyOf(userId, toolId), JSON.stringify({ ...draft, savedAt: Date.now() }));
  } catch {
    // The storage of the browser is full: the page still warns before it is left.
  }
}

export const removeDraft = (userId: string, toolId: string | null): void =>
  localStorage.removeItem(keyOf(userId, toolId));

export const isSameSource = (one: Source, other: Source): boolean =>
  one.name === other.name && one.description === other.description && one.content === other.content;

/** The members of a source that another one does not have. */
export const changesOf = ({ name, description, content }: Source, before: Source): Partial<Source> => ({
  ...(name !== before.name && { name }),
  ...(description !== before.description && { description }),
  ...(content !== before.content && { content }),
});
