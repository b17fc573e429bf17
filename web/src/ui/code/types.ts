import type { ReactNode } from 'react';

export type CodeLanguage = 'python' | 'json' | 'text';

/** A problem at a line, counted from 1. */
export interface Mark {
  line: number;
  message: string;
  severity?: 'error' | 'warning';
}

export interface CodeEditorProps {
  /** What screen readers call the editor; a visible label unless `hidesLabel`. */
  label: string;
  hidesLabel?: boolean;
  value: string;
  onChange?(value: string): void;
  language: CodeLanguage;
  /** Problems in the gutter. The editor scrolls to the first one when the list changes. */
  marks?: Mark[];
  isReadOnly?: boolean;
  /** CSS height; a number for lines. Without one the editor grows with its text. */
  height?: string | number;
  placeholder?: string;
  description?: ReactNode;
  error?: ReactNode;
}

export interface DiffViewProps {
  label: string;
  original: string;
  modified: string;
  language: CodeLanguage;
}
