import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../code/CodeEditor.tsx';
import type { FieldProperties } from './field.ts';
import { isSame, Unparsed } from './values.ts';

/** Values without a field of their own: objects with free names, alternatives, deep structures. */
export function JsonField({
  label,
  field,
  isRequired,
  value,
  onChange,
  errors,
  path,
  disabled,
}: FieldProperties) {
  const { t } = useTranslation();
  const [text, setText] = useState(() => written(value));
  // A value from outside, such as the default, replaces the text.
  if (!isSame(parsed(text) ?? null, value ?? null)) setText(written(value));
  return (
    <CodeEditor
      label={isRequired ? `${label} *` : label}
      language="json"
      height={4}
      description={field.schema.description}
      value={text}
      isReadOnly={disabled}
      error={errors[path] ?? (value instanceof Unparsed ? t('schema.notJson') : undefined)}
      onChange={(changed) => {
        setText(changed);
        onChange(parsed(changed));
      }}
    />
  );
}

function written(value: unknown): string {
  if (value instanceof Unparsed) return value.text;
  return value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
}

function parsed(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return new Unparsed(text);
  }
}
