import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint';
import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, { EditorView, type ViewUpdate } from '@uiw/react-codemirror';
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { SETUP, styleOf, syntaxOf, usePhrases } from './look.ts';
import type { CodeEditorProps, Mark } from './types.ts';

interface Properties extends Omit<CodeEditorProps, 'height'> {
  height: string | undefined;
  /** The element that says how to leave the editor with the keyboard. */
  hintId: string;
}

/** CodeMirror itself. Tab indents; Esc and then Tab leaves, which CodeMirror has built in. */
export default function Editor(properties: Properties) {
  const {
    label,
    hintId,
    value,
    onChange,
    language,
    marks,
    isReadOnly = false,
    height,
    placeholder,
  } = properties;
  const scheme = useComputedColorScheme('light');
  const phrases = usePhrases();
  const [view, setView] = useState<EditorView | null>(null);
  // A new function at each render would make CodeMirror configure itself anew.
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  const changed = useCallback((text: string, _update: ViewUpdate) => latest.current?.(text), []);
  useMarks(view, marks);
  const hasMarks = marks !== undefined;
  const extensions = useMemo(
    () => [
      ...styleOf(scheme),
      ...syntaxOf(language),
      phrases,
      EditorView.contentAttributes.of({ 'aria-label': label, 'aria-describedby': hintId, tabindex: '0' }),
      ...(hasMarks ? [linter(null), lintGutter()] : []),
    ],
    [scheme, language, phrases, label, hintId, hasMarks],
  );
  return (
    <CodeMirror
      value={value}
      onChange={changed}
      onCreateEditor={setView}
      readOnly={isReadOnly}
      theme="none"
      basicSetup={SETUP}
      extensions={extensions}
      {...(height && { height: '100%', style: { height: '100%' } })}
      {...(placeholder && { placeholder })}
    />
  );
}

/** Shows the problems in the gutter and under the lines, and scrolls to the first. */
function useMarks(view: EditorView | null, marks: Mark[] | undefined) {
  const show = useEffectEvent((editor: EditorView, shown: Mark[]) => {
    const { doc } = editor.state;
    const diagnostics = shown.map(({ line, message, severity = 'error' }): Diagnostic => {
      const { from, to, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
      return { from: from + (text.length - text.trimStart().length), to, message, severity };
    });
    const [first] = diagnostics;
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
    if (first) editor.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: 'center' }) });
  });
  const key = JSON.stringify(marks ?? []);
  useEffect(() => {
    if (view) show(view, JSON.parse(key) as Mark[]);
  }, [view, key]);
}
