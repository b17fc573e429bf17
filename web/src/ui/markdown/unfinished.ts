/** A growing text ends anywhere. Its end is shown as its likely form, so that nothing flickers. */

/** A last line that is only the beginning of a list item, heading, quote, rule or fence. */
const BEGUN_LINE =
  /(^|\n)[ \t>]*(?:[-+*_=]+|\d+[.)]?|#{1,6}|>|(?:`{1,3}|~{1,3})|(?:`{3,}|~{3,})[^\n`]*)[ \t]*$/;
/** The first line of a table, and the beginning of the line below it. */
const BEGUN_TABLE = /(?:^|\n\n)(\|[^\n]*)(?:\n[|:\- ]*)?$/;

/** Cuts a last line that is only begun. The first row of a table gets the line that makes it a table. */
export function cutBegunLine(text: string): string {
  const line = BEGUN_LINE.exec(text);
  if (line) return text.slice(0, line.index);
  const row = BEGUN_TABLE.exec(text)?.[1]?.trimEnd();
  if (row === undefined || row.length < 2) return text;
  const whole = row.endsWith('|') ? row : `${row} |`;
  const columns = whole.split('|').length - 2;
  return `${text.slice(0, text.lastIndexOf(row))}${whole}\n|${'-|'.repeat(columns)}`;
}

const OPEN_MENTION = /<[@#](?:[A-Z](?::[^<>\n]*)?)?$/;
const OPEN_LINK = /!?\[([^\][\n]*)(?:\]\([^()\s]*)?$/;
// Begins only at the first mark of a row: otherwise a long row inside the text is read once for each of its marks.
const LAST_MARKS = /(?<![*_~`])[*_~`]+$/;

/** Closes emphasis and code that are still open, and shows an unfinished link as its text. */
export function closeOpenMarks(text: string): string {
  const words = text.replace(OPEN_MENTION, '').replace(OPEN_LINK, '$1').replace(LAST_MARKS, '');
  return words + openMarksOf(words);
}

const RUN = /\\.|(`+)|(\*+|_+|~+)/gs;
const isSpace = (character: string | undefined) => character === undefined || /\s/.test(character);
const isWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** The marks that close what is open at the end. */
function openMarksOf(text: string): string {
  const open: string[] = [];
  RUN.lastIndex = 0;
  for (let found = RUN.exec(text); found; found = RUN.exec(text)) {
    const [, code, marks] = found;
    const [before, after] = [text[found.index - 1], text[RUN.lastIndex]];
    if (code) {
      const end = text.indexOf(code, RUN.lastIndex);
      if (end === -1) return code + open.reverse().join('');
      RUN.lastIndex = end + code.length;
    } else if (marks && !(marks[0] === '_' && isWord(before) && isWord(after))) {
      if (!isSpace(before) && open.at(-1) === marks) open.pop();
      else if (!isSpace(after) && marks.length <= 3) open.push(marks);
    }
  }
  return open.reverse().join('');
}
