/** Changes of a text field by the page that the person can undo with Ctrl+Z, as their own. */

/** Puts a text in place of a range and the caret behind it. */
export function insertAt(field: HTMLTextAreaElement, start: number, end: number, text: string): void {
  field.focus();
  field.setSelectionRange(start, end);
  // Nothing else keeps the history of the field; where a browser has it no more, only the history is lost.
  if (!document.execCommand('insertText', false, text)) {
    field.setRangeText(text, start, end, 'end');
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
}

export const insertAtCaret = (field: HTMLTextAreaElement, text: string): void =>
  insertAt(field, field.selectionStart, field.selectionEnd, text);

export type Format = 'bold' | 'italic' | 'code';

const MARKS: Record<Format, string> = { bold: '**', italic: '*', code: '`' };

/** Puts marks around the selection, or takes them away again. Several lines of code become a block. */
export function toggleFormat(field: HTMLTextAreaElement, format: Format): void {
  const { selectionStart: start, selectionEnd: end, value } = field;
  const chosen = value.slice(start, end);
  if (format === 'code' && chosen.includes('\n')) {
    insertAt(field, start, end, `\`\`\`\n${chosen}\n\`\`\``);
    return;
  }
  const mark = MARKS[format];
  const isMarked =
    value.slice(start - mark.length, start) === mark && value.slice(end, end + mark.length) === mark;
  if (isMarked) {
    insertAt(field, start - mark.length, end + mark.length, chosen);
    field.setSelectionRange(start - mark.length, end - mark.length);
  } else {
    insertAt(field, start, end, mark + chosen + mark);
    field.setSelectionRange(start + mark.length, end + mark.length);
  }
}

const MOST_BYTES = 64 * 1024;
/** A character has at most this many bytes in UTF-8, by UTF-16 units. */
const BYTES_A_UNIT = 3;

/** By how many bytes the content of a message is too long; 0 while it fits. */
export function bytesTooMany(content: string): number {
  if (content.length * BYTES_A_UNIT <= MOST_BYTES) return 0;
  return Math.max(0, new TextEncoder().encode(content).length - MOST_BYTES);
}
