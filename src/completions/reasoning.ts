/** Pairs of tags in which models think, as the closest existing system knows them. */
const TAGS: ReadonlyMap<string, string> = new Map([
  ...['think', 'thinking', 'reason', 'reasoning', 'thought', 'Thought'].map(
    (name) => [`<${name}>`, `</${name}>`] as const,
  ),
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['◁think▷', '◁/think▷'],
]);
const OPENING = [...TAGS.keys()];

/** White space is held back until it is clear what follows, up to so many characters. */
const MOST_HELD = 1_000;

export interface SplitText {
  text: string;
  reasoning: string;
}

/**
 * Parts the text of a model from its thoughts between tags, piece by piece. Tags count only at the beginning of an answer: later ones
 * are text that the model writes about tags. Each answer of a turn, so also the one after calls of tools, takes a splitter of its own.
 * A tag may be spread over several pieces; its parts are held back until it is complete. White space around thoughts is dropped.
 */
export class ReasoningSplitter {
  #state: 'start' | 'thinking' | 'text' = 'start';
  #closing = '';
  /** What may still become a tag. */
  #held = '';
  #hasThoughts = false;

  /** Takes a piece, and returns what of it is sure. */
  push(piece: string): SplitText {
    if (this.#state === 'text') return { text: piece, reasoning: '' };
    const out: SplitText = { text: '', reasoning: '' };
    this.#held += piece;
    while (this.#step(out));
    return out;
  }

  /** The rest, at the end of the answer. */
  end(): SplitText {
    const rest = this.#held;
    this.#held = '';
    if (this.#state === 'thinking') return { text: '', reasoning: rest };
    return { text: this.#hasThoughts ? rest.trimStart() : rest, reasoning: '' };
  }

  /** False: nothing more is sure. */
  #step(out: SplitText): boolean {
    if (this.#state === 'start') return this.#begin();
    if (this.#state === 'thinking') return this.#think(out);
    out.text = this.#held;
    this.#held = '';
    return false;
  }

  #begin(): boolean {
    const start = this.#held.trimStart();
    const tag = OPENING.find((one) => start.startsWith(one));
    if (tag) {
      this.#state = 'thinking';
      this.#closing = TAGS.get(tag) ?? '';
      this.#held = start.slice(tag.length);
      return true;
    }
    if (this.#held.length <= MOST_HELD && OPENING.some((one) => one.startsWith(start))) return false;
    this.#state = 'text';
    if (this.#hasThoughts) this.#held = start;
    return true;
  }

  #think(out: SplitText): boolean {
    const end = this.#held.indexOf(this.#closing);
    const sure = end >= 0 ? end : this.#held.length - partAtEnd(this.#held, this.#closing);
    const thoughts = sure > MOST_HELD ? this.#held.slice(0, sure) : this.#held.slice(0, sure).trimEnd();
    out.reasoning += this.#hasThoughts ? thoughts : thoughts.trimStart();
    if (thoughts !== '') this.#hasThoughts = true;
    this.#held = this.#held.slice(end >= 0 ? end + this.#closing.length : thoughts.length);
    if (end < 0) return false;
    // Another pair may follow.
    this.#state = 'start';
    this.#hasThoughts = true;
    return true;
  }
}

/** How many characters at the end of a text may be the beginning of a tag. */
function partAtEnd(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
