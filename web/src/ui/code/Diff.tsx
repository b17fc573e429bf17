import { unifiedMergeView } from '@codemirror/merge';
import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, { EditorView } from '@uiw/react-codemirror';
import { useMemo } from 'react';
import { SETUP, styleOf, syntaxOf, usePhrases } from './look.ts';
import type { DiffViewProps } from './types.ts';

export default function Diff({ label, original, modified, language }: DiffViewProps) {
  const scheme = useComputedColorScheme('light');
  const phrases = usePhrases();
  const extensions = useMemo(
    () => [
      ...styleOf(scheme),
      ...syntaxOf(language),
      phrases,
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      unifiedMergeView({ original, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
    ],
    [scheme, language, phrases, label, original],
  );
  // The merge view reads both texts only once.
  return (
    <CodeMirror
      key={`${original}\0${modified}`}
      value={modified}
      readOnly
      theme="none"
      basicSetup={SETUP}
      extensions={extensions}
      maxHeight="60vh"
    />
  );
}
