import { TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';

interface Properties {
  /** `getInputProps` of the form. */
  field(name: 'name' | 'email'): GetInputPropsReturnType;
  isNew?: boolean;
}

/** The fields of an account that an administrator makes or changes. */
export function NameAndEmail({ field, isNew = false }: Properties) {
  const { t } = useTranslation('admin');
  return (
    <>
      <TextInput
        label={t('people.name')}
        required
        autoComplete="off"
        data-autofocus={isNew || undefined}
        {...field('name')}
      />
      <TextInput label={t('people.email')} type="email" required autoComplete="off" {...field('email')} />
    </>
  );
}
