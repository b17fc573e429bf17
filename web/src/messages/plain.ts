const MENTION = /<@[UM]:[^|>]*\|([^>]*)>/g;
const MOST_LETTERS = 200;

/** The first line of a message for quotes and notes: mentions by their names. */
export const plainText = (content: string): string =>
  content.slice(0, MOST_LETTERS).replace(MENTION, '@$1').replace(/\s+/g, ' ').trim();
