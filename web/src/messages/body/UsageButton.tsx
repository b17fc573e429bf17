import { UnstyledButton, type UnstyledButtonProps } from '@mantine/core';
import type { ButtonHTMLAttributes, Ref } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './body.module.css';
import { durationOf, type Usage } from './reply.ts';

type Properties = UnstyledButtonProps &
  Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'style'> & { usage: Usage; ref?: Ref<HTMLButtonElement> };

/** Time and tokens of a reply in short. */
export function UsageButton({ usage: { totalMs, totalTokens }, ...rest }: Properties) {
  const { t, i18n } = useTranslation('replies');
  const brief = [
    totalMs === null ? null : durationOf(totalMs, i18n.language),
    totalTokens > 0 ? t('usage.tokens', { count: totalTokens }) : null,
  ].filter((part) => part !== null);
  return (
    <UnstyledButton
      {...rest}
      className={classes.usage}
      aria-label={t('usage.label', { brief: brief.join(', ') })}
    >
      {brief.join(' · ')}
    </UnstyledButton>
  );
}
