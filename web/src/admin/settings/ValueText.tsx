import { Code } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './settings.module.css';
import { MASK } from './settings.ts';

const MOST_CHARACTERS = 400;

/** A value of the configuration in words, for reading. */
export function ValueText({ value }: { value: unknown }) {
  const { t } = useTranslation('config');
  if (value === true) return t('value.on');
  if (value === false) return t('value.off');
  if (value === null || value === undefined || isEmpty(value)) return <i>{t('value.empty')}</i>;
  if (value === MASK) return t('value.secret');
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, isShort(value) ? 0 : 1);
  return (
    <Code className={classes.value}>
      {text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text}
    </Code>
  );
}

const isEmpty = (value: unknown) => ['""', '[]', '{}'].includes(JSON.stringify(value));
const isShort = (value: unknown) => JSON.stringify(value).length < 60;
