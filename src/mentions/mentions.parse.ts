import { UUID } from '../core/wire.ts';

/** The maximum length of a name. */
const NAME_CHARACTERS = 256;
/** The maximum of places where a name after an `@` may end: after each word, before and after punctuation. */
const NAME_ENDS = 12;
/** The maximum of mentions in one message, and of `@` signs that are examined. The rest is text. */
const MENTIONS = 100;
const SIGNS = 1000;

const WORD = /[\p{L}\p{N}\p{M}_]/u;
/** Part of a name between two word characters: `ada.lovelace`, `jean-luc`, `o'neil`. */
const JOINER = /[-.'’+]/;
const SPACE = /\s/;
/** A name ends before these. */
const BARRIER = /[@\n\r]/;
const USER_ID = new RegExp(`^${UUID}$`, 'i');
const UUID_CHARACTERS = 36;

export interface Mentioned {
  /** Ids in tokens, in lower case. They may belong to no account. */
  userIds: string[];
  /** For each bare `@`, the possible names after it, the longest first. */
  names: string[][];
}

/**
 * Finds what a message may mention: tokens `<@U:id|label>`, and names after a bare `@`. Names may have
 * several words, and the parser does not know which names exist, so it returns all possible ones. A name ends
 * before white space, before punctuation that does not join two words, and at the end of the line. An `@`
 * after a letter or digit, as in an e-mail address, mentions no one.
 *
 * The time is proportional to the length of any text: no step looks beyond the next `@`, or beyond the length
 * of a name.
 */
export function parseMentions(content: string): Mentioned {
  const userIds = new Set<string>();
  const names: string[][] = [];
  let signs = 0;
  for (let at = content.indexOf('@'); at !== -1; at = content.indexOf('@', at + 1)) {
    signs += 1;
    if (signs > SIGNS || userIds.size + names.length >= MENTIONS) break;
    if (content[at - 1] === '<' && content[at + 2] === ':') {
      const id = content[at + 1] === 'U' ? idAt(content, at + 3) : undefined;
      if (id) userIds.add(id);
      at = endOfToken(content, at);
    } else if (content[at + 1] !== '@' && !isWord(characterBefore(content, at))) {
      const found = namesBehind(content, at);
      if (found.length > 0) names.push(found);
    }
  }
  return { userIds: [...userIds], names };
}

/** The id of a token, if it is a UUID and the token continues with `|` or `>`, or the text ends. */
function idAt(content: string, start: number): string | undefined {
  const end = start + UUID_CHARACTERS;
  const id = content.slice(start, end);
  return USER_ID.test(id) && ['|', '>', undefined].includes(content[end]) ? id.toLowerCase() : undefined;
}

/**
 * The end of a token, because an `@` in its label is no mention; the position of its own `@` if the token is
 * not closed.
 */
function endOfToken(content: string, at: number): number {
  const token = content.slice(at, at + 2 * NAME_CHARACTERS);
  const length = token.search(/[>\n]|<@/);
  return token[length] === '>' ? at + length : at;
}

/** The possible names after an `@`, the longest first. */
function namesBehind(content: string, at: number): string[] {
  const start = at + 1;
  const names: string[] = [];
  let last = '';
  for (let end = start; end - start <= NAME_CHARACTERS; ) {
    const next = characterAt(content, end);
    const mayEnd = last !== '' && !SPACE.test(last) && !goesOn(last, next, content, end + next.length);
    if (mayEnd && names.push(content.slice(start, end)) === NAME_ENDS) break;
    if (next === '' || BARRIER.test(next) || (last === '' && SPACE.test(next))) break;
    last = next;
    end += next.length;
  }
  return names.reverse();
}

/** Whether a name cannot end between these two characters. `after` is the position after them. */
const goesOn = (last: string, next: string, content: string, after: number): boolean =>
  isWord(next) || (JOINER.test(next) && isWord(last) && isWord(characterAt(content, after)));

const isWord = (character: string) => WORD.test(character);

const characterAt = (content: string, position: number): string => {
  const point = content.codePointAt(position);
  return point === undefined ? '' : String.fromCodePoint(point);
};

function characterBefore(content: string, position: number): string {
  const isPair = position > 1 && (content.codePointAt(position - 2) ?? 0) > 0xffff;
  return isPair ? characterAt(content, position - 2) : (content[position - 1] ?? '');
}
