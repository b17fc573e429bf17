import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { type ModelForm, readOthers } from './form.ts';

/** The form of a record. The server checks all else, and its sentences stand beside the fields. */
export function useModelForm(initialValues: ModelForm) {
  const { t } = useTranslation('models');
  return useForm<ModelForm>({
    initialValues,
    validate: {
      name: (name) => (name.trim() === '' ? t('field.required') : null),
      id: (id) => (id.trim() === '' ? t('field.required') : null),
      others: (others) => (readOthers(others) === undefined ? t('field.notJson') : null),
    },
  });
}

export type UseModelForm = ReturnType<typeof useModelForm>;
