import { ColorInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type FieldProperties, shared } from '../field.ts';

const SWATCHES = ['#3b5bdb', '#1971c2', '#0c8599', '#2f9e44', '#c2255c', '#862e9c', '#d9480f', '#343a40'];

/** The accent colour. */
export default function ColorField(properties: FieldProperties) {
  const { t } = useTranslation('config');
  return (
    <ColorInput
      {...shared(properties)}
      format="hex"
      placeholder={t('field.builtIn')}
      swatches={SWATCHES}
      swatchesPerRow={8}
      eyeDropperButtonProps={{ 'aria-label': t('field.eyeDropper') }}
      value={typeof properties.value === 'string' ? properties.value : ''}
      onChange={(color) => properties.onChange(color)}
    />
  );
}
