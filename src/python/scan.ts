/** Why JSON is refused. `message` continues "the process was stopped because". */
export class ScanFault extends Error {}

const BROKEN = 'it wrote to the channel of the server';
const TOO_MUCH = 'it sent too many lists and objects at once, or too deep ones';

/** Python itself writes 254 levels. */
const MAX_DEPTH = 300;
/**
 * What a legitimate result of 8 MiB holds. An object counts as four lists: clients take as long to read it.
 */
const MAX_LISTS = 1_000_000;

/** The next expected token. */
const VALUE = 0;
const VALUE_OR_END = 1;
const NAME = 2;
const NAME_OR_END = 3;
const COLON = 4;
const COMMA_OR_END = 5;

const WORDS = new Map([...['true', 'false', 'null']].map((word) => [word.charCodeAt(0), Buffer.from(word)]));

/**
 * Checks by RFC 8259 whether bytes are one JSON text, and counts its contents without building a value.
 * `JSON.parse` takes up to a microsecond a byte when all member names differ; this check takes some
 * nanoseconds. Does not check whether strings are UTF-8.
 */
export class JsonScan {
  members = 0;
  /** Lists; an object counts as four. */
  lists = 0;
  readonly #bytes: Uint8Array;
  #at = 0;
  #state = VALUE;
  #depth = 0;
  /** By depth: 1 for an object. */
  readonly #isObject = new Uint8Array(MAX_DEPTH + 1);

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /**
   * Reads so many bytes, and then to the end of the current string or number. Returns true at the end.
   *
   * @throws ScanFault for bytes that are not JSON, are nested too deep, or hold too many lists and objects
   */
  step(count: number): boolean {
    const bytes = this.#bytes;
    const stop = Math.min(bytes.length, this.#at + count);
    let at = this.#at;
    while (at < stop) {
      const code = bytes[at] ?? 0;
      if (code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b && code !== 0x0c)) at += 1;
      else at = this.#state < NAME ? this.#value(code, at) : this.#mark(code, at);
    }
    this.#at = at;
    if (at < bytes.length) return false;
    if (this.#state !== COMMA_OR_END || this.#depth > 0) throw new ScanFault(BROKEN);
    return true;
  }

  /** Reads a value, or the beginning of one that has parts. */
  #value(code: number, at: number): number {
    const isObject = code === 0x7b;
    if (isObject || code === 0x5b) {
      this.#depth += 1;
      this.lists += isObject ? 4 : 1;
      if (this.#depth > MAX_DEPTH || this.lists > MAX_LISTS) throw new ScanFault(TOO_MUCH);
      this.#isObject[this.#depth] = isObject ? 1 : 0;
      this.#state = isObject ? NAME_OR_END : VALUE_OR_END;
      return at + 1;
    }
    if (code === 0x5d && this.#state === VALUE_OR_END) return this.#close(at);
    this.#state = COMMA_OR_END;
    if (code === 0x22) return endOfString(this.#bytes, at);
    const word = WORDS.get(code);
    if (!word) return endOfNumber(this.#bytes, at);
    if (word.compare(this.#bytes, at, at + word.length) !== 0) throw new ScanFault(BROKEN);
    return at + word.length;
  }

  /** Reads the punctuation between values, names of members included. */
  #mark(code: number, at: number): number {
    const isObject = this.#isObject[this.#depth] === 1;
    if (this.#state === COLON) {
      if (code !== 0x3a) throw new ScanFault(BROKEN);
      this.#state = VALUE;
      return at + 1;
    }
    if (this.#state === COMMA_OR_END) {
      if (this.#depth === 0) throw new ScanFault(BROKEN);
      if (code === (isObject ? 0x7d : 0x5d)) return this.#close(at);
      if (code !== 0x2c) throw new ScanFault(BROKEN);
      this.#state = isObject ? NAME : VALUE;
      return at + 1;
    }
    if (code === 0x7d && this.#state === NAME_OR_END) return this.#close(at);
    if (code !== 0x22) throw new ScanFault(BROKEN);
    this.members += 1;
    this.#state = COLON;
    return endOfString(this.#bytes, at);
  }

  #close(at: number): number {
    this.#depth -= 1;
    this.#state = COMMA_OR_END;
    return at + 1;
  }
}

const isDigit = (code: number | undefined) => code !== undefined && code >= 0x30 && code <= 0x39;
const isHexDigit = (code = 0) => isDigit(code) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);

/** The index after the string that begins at a quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const code = bytes[at] ?? 0;
    if (code === 0x22) return at + 1;
    if (code < 0x20) break;
    if (code !== 0x5c) continue;
    at += 1;
    const escaped = bytes[at] ?? 0;
    if (escaped === 0x75) {
      for (const end = at + 4; at < end; at += 1) if (!isHexDigit(bytes[at + 1])) throw new ScanFault(BROKEN);
    } else if (!'"\\/bfnrt'.includes(String.fromCharCode(escaped))) break;
  }
  throw new ScanFault(BROKEN);
}

/** The index after the number that begins at `start`. */
function endOfNumber(bytes: Uint8Array, start: number): number {
  const digits = (from: number) => {
    let end = from;
    while (isDigit(bytes[end])) end += 1;
    if (end === from) throw new ScanFault(BROKEN);
    return end;
  };
  let at = bytes[start] === 0x2d ? start + 1 : start;
  at = bytes[at] === 0x30 ? at + 1 : digits(at);
  if (bytes[at] === 0x2e) at = digits(at + 1);
  if (((bytes[at] ?? 0) | 0x20) !== 0x65) return at;
  at += 1;
  return digits(bytes[at] === 0x2b || bytes[at] === 0x2d ? at + 1 : at);
}
