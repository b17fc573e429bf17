const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const isOpening = (byte: number) => (byte | 0x20) === 0x7b;
const isClosing = (byte: number) => (byte | 0x20) === 0x7d;
const isSpace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

/** The byte range of a list's element in the text; `end` is exclusive. */
export interface Range {
  start: number;
  end: number;
}

/**
 * Finds the elements of the lists that an object holds, while its JSON text arrives. A parser decides whether
 * the text is JSON.
 */
export interface ElementScanner {
  feed(bytes: Uint8Array): void;
  /** Elements of all such lists, in order. */
  elements: Range[];
  /** How many bytes of the text are outside the elements. */
  outside(): number;
}

export function scanElements(): ElementScanner {
  const elements: Range[] = [];
  let at = 0;
  let depth = 0;
  let isString = false;
  let isEscaped = false;
  /** Whether the open bracket at the second level belongs to a list. */
  let isList = false;
  let start = -1;
  let inside = 0;

  const endElement = () => {
    if (start === -1) return;
    elements.push({ start, end: at });
    inside += at - start;
    start = -1;
  };

  function take(byte: number): void {
    if (isSpace(byte) || byte === COLON) return;
    if (depth === 2 && isList && (byte === COMMA || isClosing(byte))) endElement();
    else if (depth === 2 && isList && start === -1) start = at;
    if (byte === QUOTE) isString = true;
    else if (isOpening(byte)) {
      depth += 1;
      if (depth === 2) isList = byte === OPEN_LIST;
    } else if (isClosing(byte)) depth -= 1;
  }

  return {
    elements,
    outside: () => at - inside - (start === -1 ? 0 : at - start),
    feed(bytes) {
      for (const byte of bytes) {
        if (!isString) take(byte);
        else if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isString = false;
        at += 1;
      }
    },
  };
}
