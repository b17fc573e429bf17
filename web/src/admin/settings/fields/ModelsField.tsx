import { MultiSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type FieldProperties, shared } from '../field.ts';
import { useModelChoices } from './models.ts';

/** Models by their names; the setting holds their ids between commas, or null. */
export default function ModelsField(properties: FieldProperties) {
  const { t } = useTranslation('config');
  const { value, onChange } = properties;
  const chosen = typeof value === 'string' ? value.split(',').filter((id) => id !== '') : [];
  const choices = useModelChoices(chosen);
  return (
    <MultiSelect
      {...shared(properties)}
      data={choices}
      value={chosen}
      searchable
      placeholder={chosen.length === 0 ? t('field.noModel') : ''}
      nothingFoundMessage={t('field.noMatch')}
      onChange={(ids) => onChange(ids.length === 0 ? null : ids.join(','))}
    />
  );
}
