import MarkdownIt, { type StateCore, type StateInline, type Token } from 'markdown-it';
import { closeOpenMarks } from './unfinished.ts';

/** What one text shares between its parts. */
export interface TextScope {
  /** The definitions `[label]: address` that were found so far. */
  references?: Record<string, { href: string; title: string }>;
  /** The text still grows. */
  isLive?: boolean;
}

/** Deeper blocks are left out by the parser: a text that reaches this depth is shown as it was typed. */
export const MAX_DEPTH = 48;

/** Stands for the `|` of a mention, which would end a cell of a table. Never a character of a text. */
const BAR = '\u{FDD0}';
const TOKEN_WITH_BAR = /<([@#])([A-Z]):([^|<>\s]+)\|([^<>\n]*)>/g;
const TOKEN = /<([@#])([A-Z]):([^\uFDD0|<>\s]+)(?:\uFDD0([^<>\n]*))?>/y;
const EVERYONE = /@(here|channel)(?![\p{L}\p{N}\p{M}_-])/uy;
const WORD_BEFORE = /[\p{L}\p{N}\p{M}_]$/u;

/** The schemes that a link may have; relative addresses lead to this server. */
const SAFE_SCHEME = /^(?:https?:|mailto:|tel:)/i;
const ANY_SCHEME = /^[a-z][a-z0-9+.-]*:/i;

// `lheading` would make a heading of a line above `---`, which surprises people who chat.
const parser = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: MAX_DEPTH }).disable(
  'lheading',
);
parser.linkify.set({ fuzzyLink: false });
parser.validateLink = (url: string) => SAFE_SCHEME.test(url.trim()) || !ANY_SCHEME.test(url.trim());
parser.inline.ruler.before('autolink', 'mention', readMention);
parser.core.ruler.before('inline', 'unfinished', finishLastWords);
parser.core.ruler.after('inline', 'tasks', markTasks);

/** The tokens of a text; raw HTML is text. */
export const parseMarkdown = (text: string, scope: TextScope): Token[] =>
  parser.parse(
    text.replace(TOKEN_WITH_BAR, (_token, sign, kind, id, label) => `<${sign}${kind}:${id}${BAR}${label}>`),
    scope as Record<string, unknown>,
  );

/** Code shows mentions as they were typed. */
export const asTyped = (text: string): string => text.replaceAll(BAR, '|');

/** Tokens of mentions, `@here` and `@channel`. */
function readMention(state: StateInline, silent: boolean): boolean {
  const sign = state.src[state.pos];
  if (sign !== '<' && sign !== '@') return false;
  const found = sign === '<' ? readAt(TOKEN, state) : readAt(EVERYONE, state);
  if (!found || (sign === '@' && WORD_BEFORE.test(state.src.slice(Math.max(0, state.pos - 2), state.pos))))
    return false;
  if (!silent) {
    const token = state.push('mention', '', 0);
    const [whole, mark, kind, id, label] = found;
    token.content = sign === '<' ? `${mark}${label || id}` : whole;
    token.meta = sign === '<' ? { kind, id } : { kind: 'everyone' };
  }
  state.pos += found[0].length;
  return true;
}

function readAt(pattern: RegExp, { src, pos }: StateInline): RegExpExecArray | null {
  pattern.lastIndex = pos;
  return pattern.exec(src);
}

/** Closes the marks that the end of a growing text left open, so that the next words do not change these. */
function finishLastWords({ env, tokens }: StateCore): void {
  if (!(env as TextScope).isLive) return;
  const last = tokens.findLast(({ nesting }) => nesting !== -1);
  if (last?.type === 'inline') last.content = closeOpenMarks(last.content);
}

const TASK = /^\[([ xX])\]\s+/;

/** List items that begin with `[ ]` or `[x]` get `meta.isDone`. */
function markTasks({ tokens }: StateCore): void {
  for (const [index, item] of tokens.entries()) {
    if (item.type !== 'list_item_open' || tokens[index + 2]?.type !== 'inline') continue;
    const words = tokens[index + 2]?.children?.[0];
    const task = words?.type === 'text' ? TASK.exec(words.content) : null;
    if (!words || !task) continue;
    item.meta = { isDone: task[1] !== ' ' };
    words.content = words.content.slice(task[0].length);
  }
}
