import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../ui/code/CodeEditor.tsx';
import { isSame, Unparsed } from '../../ui/schema/values.ts';
import type { FieldProperties } from './field.ts';

/** A value without a field of its own, as JSON. */
export function JsonValue({ label, setting, value, onChange, error }: FieldProperties) {
  const { t } = useTranslation();
  const [text, setText] = useState(() => written(value));
  // A value from outside, such as the default, replaces the text.
  if (!isSame(parsed(text), value)) setText(written(value));
  return (
    <CodeEditor
      label={label}
      hidesLabel
      language="json"
      value={text}
      isReadOnly={setting.locked}
      error={error ?? (value instanceof Unparsed ? t('schema.notJson') : undefined)}
      onChange={(changed) => {
        setText(changed);
        onChange(parsed(changed));
      }}
    />
  );
}

const written = (value: unknown): string =>
  value instanceof Unparsed ? value.text : JSON.stringify(value, null, 2);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return new Unparsed(text);
  }
}
