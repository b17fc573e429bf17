import { PasswordInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { common, type FieldProperties } from './field.ts';

/** A secret that is stored is never shown: an empty field keeps it, other text replaces it. */
export function SecretField(properties: FieldProperties) {
  const { t } = useTranslation();
  const { value, stored, onChange } = properties;
  const isStored = typeof stored === 'string' && stored !== '';
  const isKept = isStored && value === stored;
  const shown = isKept || typeof value !== 'string' ? '' : value;
  return (
    <PasswordInput
      {...common(properties)}
      value={shown}
      autoComplete="new-password"
      placeholder={isStored ? t('schema.keepSecret') : ''}
      visibilityToggleButtonProps={{ 'aria-label': t('schema.showSecret') }}
      onChange={({ currentTarget: { value: text } }) => {
        if (text !== '') onChange(text);
        else onChange(isStored ? stored : undefined);
      }}
    />
  );
}
