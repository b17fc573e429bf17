import { json } from '@codemirror/lang-json';
import { python } from '@codemirror/lang-python';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';
import { type BasicSetupOptions, EditorView, type Extension } from '@uiw/react-codemirror';
import type { CodeLanguage } from './CodeEditor.tsx';

/** The colours are variables of `code.module.css`, which follow light and dark. */
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
  '.cm-collapsedLines': {
    background: 'var(--surface-side)',
    color: 'var(--text-quiet)',
    fontFamily: 'var(--mantine-font-family)',
  },
};

const THEMES = { light: EditorView.theme(STYLE), dark: EditorView.theme(STYLE, { dark: true }) };

const COLORS = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
    { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
    { tag: [tags.comment, tags.docString], color: 'var(--text-quiet)', fontStyle: 'italic' },
    { tag: [tags.definition(tags.className), tags.className, tags.typeName], color: 'var(--code-type)' },
    {
      tag: [
        tags.function(tags.variableName),
        tags.function(tags.definition(tags.variableName)),
        tags.propertyName,
      ],
      color: 'var(--code-name)',
    },
    { tag: [tags.self, tags.meta], color: 'var(--code-type)' },
    { tag: tags.invalid, color: 'var(--mantine-color-error)' },
  ]),
);

export const styleOf = (scheme: 'light' | 'dark'): Extension[] => [THEMES[scheme], COLORS];

export function syntaxOf(language: CodeLanguage): Extension[] {
  if (language === 'python') return [python(), indentUnit.of('    ')];
  return language === 'json' ? [json(), indentUnit.of('  ')] : [EditorView.lineWrapping];
}

export const SETUP: BasicSetupOptions = { syntaxHighlighting: false, highlightSelectionMatches: false };
