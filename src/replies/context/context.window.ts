/** For a provider that does not say how much its model can read. */
const UNKNOWN_WINDOW = 32_768;
/** The room that stays for the answer: what the parameters ask for, but at most this part of the window. */
const ANSWER_PART = 0.25;
const ANSWER_TOKENS = 4_096;
/**
 * An estimate that is rather too high: a token of English has four bytes, and a letter of other scripts is up
 * to a token.
 */
const BYTES_OF_TOKEN = 3;
/** The root of a thread may take this part of the room. */
const ROOT_PART = 0.25;

export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_OF_TOKEN);

/** How many tokens the messages of a request may have. */
export function roomIn(contextLength: number | null, params: Readonly<Record<string, unknown>>): number {
  const window = contextLength ?? UNKNOWN_WINDOW;
  const asked = params.max_completion_tokens ?? params.max_tokens;
  const answer = typeof asked === 'number' ? asked : ANSWER_TOKENS;
  return Math.floor(window - Math.min(answer, window * ANSWER_PART));
}

/** A message of the conversation. */
export interface Piece {
  text: string;
  /** Tokens that its images take. */
  imageTokens: number;
  isRoot: boolean;
}

const sizeOf = ({ text, imageTokens }: Piece) => tokensOf(text) + imageTokens;

/** The beginning of a text, at most so many tokens. */
export function shorten(text: string, tokens: number): string {
  if (tokensOf(text) <= tokens) return text;
  const bytes = Math.max(0, Math.floor(tokens)) * BYTES_OF_TOKEN;
  return `${Buffer.from(text)
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')} […]`;
}

/**
 * The pieces that fit, in their order: the last one, the root, and of the others the newest. The last one and
 * the root are shortened if they alone take too much.
 *
 * @returns also how many were left out
 */
export function cutToRoom<P extends Piece>(
  pieces: readonly P[],
  room: number,
): { kept: P[]; leftOut: number } {
  const last = pieces.at(-1);
  if (!last) return { kept: [], leftOut: 0 };
  const root = pieces.find((piece) => piece.isRoot && piece !== last);
  const shortRoot = root && { ...root, text: shorten(root.text, room * ROOT_PART) };
  let left = room - (shortRoot ? sizeOf(shortRoot) : 0) - last.imageTokens;
  const shortLast = { ...last, text: shorten(last.text, left) };
  left -= tokensOf(shortLast.text);
  const others = pieces.filter((piece) => piece !== last && piece !== root);
  const kept: P[] = [];
  for (const piece of others.toReversed()) {
    left -= sizeOf(piece);
    if (left < 0) break;
    kept.unshift(piece);
  }
  return {
    kept: [...(shortRoot ? [shortRoot] : []), ...kept, shortLast],
    leftOut: others.length - kept.length,
  };
}
