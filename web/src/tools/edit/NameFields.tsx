import { Textarea, TextInput } from '@mantine/core';
import type { ReactNode, Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { Source } from './drafts.ts';

interface Properties {
  source: Source;
  onChange(part: Partial<Source>): void;
  nameRef?: Ref<HTMLInputElement>;
  /** The problem of the name. */
  error?: ReactNode;
}

export function NameFields({ source, onChange, nameRef, error }: Properties) {
  const { t } = useTranslation('tools');
  return (
    <>
      <TextInput
        ref={nameRef}
        label={t('edit.name')}
        required
        error={error}
        value={source.name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <Textarea
        label={t('edit.description')}
        autosize
        minRows={2}
        maxRows={6}
        value={source.description}
        onChange={({ currentTarget }) => onChange({ description: currentTarget.value })}
      />
    </>
  );
}
