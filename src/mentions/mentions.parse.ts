import { UUID } from '../core/wire.ts';

/** A name is at most this long. */
const NAME_CHARACTERS = 256;
/** In how many places the name behind an `@` may end: after each word, before and after punctuation. */
const NAME_ENDS = 12;
/** How many mentions of one message count, and how many `@` are looked at; the rest is text. */
const MENTIONS = 100;
const SIGNS = 1000;

const WORD = /[\p{L}\p{N}\p{M}_]/u;
/** Between two word characters these belong to a name: `ada.lovelace`, `jean-luc`, `o'neil`. */
const JOINER = /[-.'’+]/;
const SPACE = /\s/;
/** No name goes on beyond these. */
const BARRIER = /[@\n\r]/;
const USER_ID = new RegExp(`^${UUID}$`, 'i');
const UUID_CHARACTERS = 36;

export interface Mentioned {
  /** Ids that the text names outright, in lower case; whether they are anybody's is not known here. */
  userIds: string[];
  /** For each bare `@`, what may be the name behind it, the longest first. */
  names: string[][];
}

/**
 * Finds what a message may mention: `<@U:id|label>`, and a name behind a bare `@`. Which names there are is not known here, and
 * some have several words, so all that it can be is returned: it ends before white space, before punctuation that does not join
 * two words, and at the end of the line. An `@` behind a letter or digit, as in an e-mail address, mentions nobody.
 *
 * Takes time in proportion to the text, whatever is in it: no step looks further than the next `@`, or than a name is long.
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

/** The id of a token, when it is a UUID and ends as ids in tokens do. */
function idAt(content: string, start: number): string | undefined {
  const end = start + UUID_CHARACTERS;
  const id = content.slice(start, end);
  return USER_ID.test(id) && ['|', '>', undefined].includes(content[end]) ? id.toLowerCase() : undefined;
}

/** Where a token ends, in whose label another `@` means nothing; its own `@` when it is not closed. */
function endOfToken(content: string, at: number): number {
  const token = content.slice(at, at + 2 * NAME_CHARACTERS);
  const length = token.search(/[>\n]|<@/);
  return token[length] === '>' ? at + length : at;
}

/** What may be a name, from the longest to the shortest. */
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

/** Whether a name cannot end between these two characters. `after` is where the text goes on behind them. */
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
