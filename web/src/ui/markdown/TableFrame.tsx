import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Markdown.module.css';

/** Wide tables scroll by themselves, also by keyboard. */
export function TableFrame({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by keyboard
    <section className={classes.table} aria-label={t('markdown.table')} tabIndex={0}>
      <table>{children}</table>
    </section>
  );
}
