import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../ui/code/CodeEditor.tsx';
import { Unparsed } from '../../ui/schema/values.ts';

interface Properties {
  value: unknown;
  error: string | undefined;
  onChange(value: unknown): void;
}

/** Members of each request, as JSON. */
export function Parameters({ value, error, onChange }: Properties) {
  const { t } = useTranslation('config');
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  return (
    <CodeEditor
      label={t('connection.params')}
      description={t('connection.paramsHint')}
      language="json"
      value={text}
      error={error ?? (value instanceof Unparsed ? t('common:schema.notJson') : undefined)}
      onChange={(changed) => {
        setText(changed);
        onChange(parsed(changed));
      }}
    />
  );
}

function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return new Unparsed(text);
  }
}
