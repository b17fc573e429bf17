import { json } from '@codemirror/lang-json';
import { python } from '@codemirror/lang-python';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';
import { type BasicSetupOptions, EditorState, EditorView, type Extension } from '@uiw/react-codemirror';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { CodeLanguage } from './types.ts';

/** The colours are variables of `tokens.ts` and `code.module.css`, which follow light and dark. */
const STYLE = {
  '&': {
    backgroundColor: 'transparent',
    color: 'var(--mantine-color-text)',
    fontSize: 'var(--mantine-font-size-sm)',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '20px' },
  '.cm-content': { padding: '4px 0', caretColor: 'var(--mantine-color-text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--text-quiet)', borderRight: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--code-active)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-placeholder': { color: 'var(--mantine-color-placeholder)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--mantine-radius-sm)',
    fontFamily: 'var(--mantine-font-family)',
    fontSize: 'var(--mantine-font-size-sm)',
  },
  '.cm-panels': { backgroundColor: 'var(--surface-side)', color: 'var(--mantine-color-text)' },
  // As specific as the rules of the library.
  '&.cm-merge-b .cm-deletedChunk': { backgroundColor: 'var(--code-deleted-line)' },
  '&.cm-merge-b .cm-deletedChunk .cm-deletedText': { background: 'var(--code-deleted)' },
  '&.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--code-added-line)' },
  '&.cm-merge-b .cm-changedText': { background: 'var(--code-added)' },
  // Few fonts have the sign that the library writes there.
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"···"' },
  '.cm-collapsedLines': {
    background: 'var(--surface-side)',
    color: 'var(--text-quiet)',
    fontFamily: 'var(--mantine-font-family)',
  },
};

const THEMES = { light: EditorView.theme(STYLE), dark: EditorView.theme(STYLE, { dark: true }) };

const COLORS = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-token-keyword)' },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-token-string)' },
    { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-token-constant)' },
    { tag: [tags.comment, tags.docString], color: 'var(--code-token-comment)', fontStyle: 'italic' },
    {
      tag: [tags.definition(tags.className), tags.className, tags.typeName],
      color: 'var(--code-token-constant)',
    },
    {
      tag: [
        tags.function(tags.variableName),
        tags.function(tags.definition(tags.variableName)),
        tags.propertyName,
      ],
      color: 'var(--code-token-function)',
    },
    { tag: [tags.self, tags.meta], color: 'var(--code-token-constant)' },
    { tag: tags.invalid, color: 'var(--mantine-color-error)' },
  ]),
);

/** The words of CodeMirror itself: the search panel, folded lines. */
export function usePhrases(): Extension {
  const { t } = useTranslation('code');
  return useMemo(
    () => EditorState.phrases.of(t('phrases', { returnObjects: true }) as unknown as Record<string, string>),
    [t],
  );
}

export const styleOf = (scheme: 'light' | 'dark'): Extension[] => [THEMES[scheme], COLORS];

export function syntaxOf(language: CodeLanguage): Extension[] {
  if (language === 'python') return [python(), indentUnit.of('    ')];
  return language === 'json' ? [json(), indentUnit.of('  ')] : [EditorView.lineWrapping];
}

export const SETUP: BasicSetupOptions = { syntaxHighlighting: false, highlightSelectionMatches: false };
