import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { languages } from '../../../base/languages.ts';
import { type FieldProperties, shared } from '../field.ts';

/** The languages of the page, by their own names. */
export default function LanguageField(properties: FieldProperties) {
  const { t } = useTranslation('config');
  const value = typeof properties.value === 'string' ? properties.value : '';
  const known = [...new Set([...languages, ...(value ? [value] : [])])];
  return (
    <Select
      {...shared(properties)}
      data={[
        { value: '', label: t('field.browserLanguage') },
        ...known.map((tag) => ({
          value: tag,
          label: new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag,
        })),
      ]}
      value={value}
      allowDeselect={false}
      onChange={(chosen) => properties.onChange(chosen ?? '')}
    />
  );
}
