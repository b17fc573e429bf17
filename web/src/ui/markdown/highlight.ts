import type { DynamicImportLanguageRegistration, GrammarState, ThemedToken } from 'shiki/core';
import { createCssVariablesTheme, createHighlighterCoreSync } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';

/**
 * Colours for code, line by line. The policy of the page allows no WebAssembly, so the engine is the one of
 * JavaScript. Tokens name variables of CSS (`base/tokens.ts`), which have a value for the light and one for the
 * dark page.
 */
const highlighter = createHighlighterCoreSync({
  themes: [createCssVariablesTheme({ name: 'variables', variablePrefix: '--code-' })],
  langs: [],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
});

const LANGUAGES: Record<string, DynamicImportLanguageRegistration> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  r: () => import('shiki/langs/r.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

const ALIASES: Record<string, string> = {
  'c++': 'cpp',
  'c#': 'csharp',
  cs: 'csharp',
  console: 'bash',
  dockerfile: 'docker',
  golang: 'go',
  js: 'javascript',
  jsonc: 'json',
  jsx: 'tsx',
  kt: 'kotlin',
  makefile: 'make',
  md: 'markdown',
  mjs: 'javascript',
  patch: 'diff',
  ps1: 'powershell',
  py: 'python',
  python3: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  svg: 'xml',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
};

/** The name of a language that has colours; undefined for others. Loads it. */
export async function loadLanguage(name: string): Promise<string | undefined> {
  const wished = name.toLowerCase();
  const language = ALIASES[wished] ?? wished;
  const load = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : undefined;
  if (!load) return undefined;
  if (!highlighter.getLoadedLanguages().includes(language))
    await highlighter.loadLanguage((await load()).default);
  return language;
}

/** How many lines are done before the browser may paint and hear keys. */
const LINES_AT_ONCE = 20;
/** Longer lines are machine-made: they stay plain. */
const LONGEST_LINE = 1_000;

/** The colours of code that may grow: lines that were done stay done. */
export class ColouredCode {
  readonly #language: string;
  /** Whole lines with the state of the grammar after each portion. */
  #done: string[] = [];
  #tokens: ThemedToken[][] = [];
  #state: GrammarState | undefined;

  constructor(language: string) {
    this.#language = language;
  }

  /** Colours the next portion. @returns the lines so far, and whether more are left */
  next(lines: readonly string[]): { tokens: ThemedToken[][]; hasMore: boolean } {
    if (this.#done.some((line, index) => line !== lines[index])) {
      this.#done = [];
      this.#tokens = [];
      this.#state = undefined;
    }
    const start = this.#done.length;
    const end = Math.min(start + LINES_AT_ONCE, lines.length);
    const portion = lines.slice(start, end);
    const tokens = highlighter.codeToTokensBase(portion.join('\n'), {
      lang: this.#language,
      theme: 'variables',
      tokenizeMaxLineLength: LONGEST_LINE,
      ...(this.#state && { grammarState: this.#state }),
    });
    const shown = [...this.#tokens, ...tokens];
    // The last line may still grow.
    if (end < lines.length) {
      this.#done.push(...portion);
      this.#tokens = shown;
      this.#state = highlighter.getLastGrammarState(tokens);
    }
    return { tokens: shown, hasMore: end < lines.length };
  }
}
