/** A longer beginning is text, whatever it may still become. */
const MOST_HELD = 1_000;

/**
 * Drops a name and a colon at the beginning of a reply. The messages that a model gets begin with the names
 * of their authors, and small models imitate that.
 */
export class NamePrefix {
  readonly #prefixes: readonly string[];
  /** What may still become a prefix; undefined when the beginning is over. */
  #held: string | undefined = '';

  constructor(names: readonly string[]) {
    this.#prefixes = names.filter((name) => name !== '').map((name) => `${name}:`);
  }

  /** Takes a piece, and returns what of it is text. */
  push(piece: string): string {
    if (this.#held === undefined) return piece;
    this.#held += piece;
    const start = this.#held.trimStart();
    const prefix = this.#prefixes.find((one) => start.startsWith(one));
    if (prefix !== undefined) {
      // White space after the colon may come with the next piece.
      const rest = start.slice(prefix.length).trimStart();
      if (rest === '') return '';
      return this.#release(rest);
    }
    const mayBecome = this.#held.length <= MOST_HELD && this.#prefixes.some((one) => one.startsWith(start));
    return mayBecome ? '' : this.#release(this.#held);
  }

  /** The rest, at the end of the reply. */
  end(): string {
    return this.#release(this.#held ?? '');
  }

  #release(text: string): string {
    this.#held = undefined;
    return text;
  }
}
