import type { Token } from 'markdown-it';
import { MAX_DEPTH, parseMarkdown, type TextScope } from './parser.ts';
import { cutBegunLine } from './unfinished.ts';

/** A paragraph, list, table … of the first level. Blocks of the same source and references look the same. */
export interface Block {
  source: string;
  /** Null for a text that is nested too deeply: it is shown as it was typed. */
  tokens: Token[] | null;
  /** How many definitions of addresses the text had. */
  references: number;
  /** The last block of a growing text, with marks that are not closed yet. */
  isOpen: boolean;
}

/**
 * The blocks of a text that may grow. Only its last block can change when words are added, so the others are
 * kept and cost nothing.
 */
export class BlocksOfText {
  #scope: TextScope = {};
  #text = '';
  #blocks: Block[] = [];
  /** Where the last block begins, and how many blocks stand before it. */
  #lastStart = 0;
  #kept = 0;

  read(whole: string, isLive: boolean): Block[] {
    const lines = whole.includes('\r') ? whole.replace(/\r\n?/g, '\n') : whole;
    const text = isLive ? cutBegunLine(lines) : lines;
    const wasLive = this.#scope.isLive ?? false;
    if (text === this.#text && isLive === wasLive) return this.#blocks;
    if (!text.startsWith(this.#text.slice(0, this.#lastStart))) {
      this.#scope = {};
      this.#lastStart = 0;
      this.#kept = 0;
    }
    this.#scope.isLive = isLive;
    const start = this.#lastStart;
    const { blocks, lastStart } = split(text.slice(start), this.#scope);
    this.#blocks = [...this.#blocks.slice(0, this.#kept), ...blocks];
    this.#text = text;
    this.#lastStart = start + lastStart;
    this.#kept = Math.max(this.#kept, this.#blocks.length - 1);
    return this.#blocks;
  }
}

function split(text: string, scope: TextScope): { blocks: Block[]; lastStart: number } {
  const tokens = parseMarkdown(text, scope);
  if (tokens.some(({ level }) => level >= MAX_DEPTH - 1)) {
    return { blocks: [{ source: text, tokens: null, references: 0, isOpen: true }], lastStart: 0 };
  }
  const starts = lineStarts(text);
  const references = Object.keys(scope.references ?? {}).length;
  const blocks: Block[] = [];
  let lastStart = 0;
  let first = 0;
  for (const [index, { level, nesting }] of tokens.entries()) {
    if (level > 0 || nesting === 1) continue;
    const [from, to] = tokens[first]?.map ?? [0, starts.length];
    lastStart = starts[from] ?? text.length;
    const source = text.slice(lastStart, starts[to] ?? text.length);
    const isOpen = scope.isLive === true && index === tokens.length - 1;
    const sourceOf = ([start, end]: [number, number]) =>
      `${references} ${text.slice(starts[start], starts[end])}`;
    nameParts(tokens.slice(first, index + 1), sourceOf, isOpen);
    blocks.push({ source, tokens: tokens.slice(first, index + 1), references, isOpen });
    first = index + 1;
  }
  return { blocks, lastStart };
}

/** List items and table rows get their source as `meta.source`: while a block grows, the old ones are kept. */
function nameParts(tokens: Token[], sourceOf: (map: [number, number]) => string, isOpen: boolean): void {
  const parts = tokens.filter(
    ({ type, level }) => (type === 'list_item_open' && level === 1) || (type === 'tr_open' && level === 2),
  );
  for (const [index, part] of parts.entries()) {
    const { map } = part;
    if (!map) continue;
    // The marks of the last part are closed for now.
    const end = isOpen && index === parts.length - 1 ? ' …' : '';
    part.meta = { ...part.meta, source: sourceOf(map) + end };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
