import { Textarea, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';

interface Properties {
  /** `getInputProps` of the form. */
  field(name: 'name' | 'description'): GetInputPropsReturnType;
}

/** Name and description of a new or changed channel. */
export function NameFields({ field }: Properties) {
  const { t } = useTranslation('channels');
  return (
    <>
      <TextInput label={t('form.name')} data-autofocus autoComplete="off" {...field('name')} />
      <Textarea label={t('form.description')} autosize minRows={2} maxRows={8} {...field('description')} />
    </>
  );
}
