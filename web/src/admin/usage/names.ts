import { useTranslation } from 'react-i18next';
import type { By, Sum } from './usage.ts';

/** What a row is about, in words. */
export function useNameOf(by: By): (sum: Pick<Sum, 'key' | 'name'>) => string {
  const { t } = useTranslation('config');
  return ({ key, name }) => {
    if (by === 'none') return t('usage.all');
    if (by === 'user') return name ?? t('usage.deleted');
    if (key === null) return t('usage.noConnection');
    return by === 'kind' ? t(`usage.kindName.${key}`, { defaultValue: key }) : key;
  };
}

/** Numbers in the language of the page. */
export function useNumbers(): (value: number) => string {
  const { i18n } = useTranslation();
  const format = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 4 });
  return (value) => format.format(value);
}
