const HALF_PAIR = /[\uD800-\uDBFF]$/;

/**
 * A piece of a growing text: `text = text.slice(0, offset) + content`. Offsets count UTF-16 code units, as
 * JavaScript does.
 */
export interface Delta {
  offset: number;
  content: string;
}

/**
 * A text that grows and is saved now and then. Each delta begins at the last save but one: a client that has
 * read the saved text, however late, continues with the next delta, and the next delta repairs a lost one.
 */
export class GrowingText {
  #text = '';
  #bytes = 0;
  /** The first half of a surrogate pair, whose second half comes with the next piece. */
  #half = '';
  /** The length of the text at the last save, and at the save before. */
  #saved = 0;
  #savedBefore = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The whole text, without half a character at its end. */
  get text(): string {
    return this.#text;
  }

  /** Whether text was added after the last save. */
  get isUnsaved(): boolean {
    return this.#text.length > this.#saved;
  }

  /** Adds a piece without NUL, which cannot be stored. @returns false if the text is full and was cut */
  add(piece: string): boolean {
    const whole = this.#half + piece.replaceAll('\0', '');
    this.#half = HALF_PAIR.exec(whole)?.[0] ?? '';
    const complete = (this.#half === '' ? whole : whole.slice(0, -1)).toWellFormed();
    const bytes = Buffer.byteLength(complete);
    const room = this.#maxBytes - this.#bytes;
    this.#text += bytes <= room ? complete : cutToBytes(complete, room);
    this.#bytes += Math.min(bytes, room);
    return bytes <= room;
  }

  /** The text since the last save but one. */
  delta(): Delta {
    return { offset: this.#savedBefore, content: this.#text.slice(this.#savedBefore) };
  }

  /** Notes a save. @param length of the saved text */
  noteSave(length: number): void {
    this.#savedBefore = this.#saved;
    this.#saved = length;
  }
}

const cutToBytes = (text: string, bytes: number): string =>
  Buffer.from(text)
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
