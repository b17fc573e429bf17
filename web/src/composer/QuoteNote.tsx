import { ActionIcon, Text } from '@mantine/core';
import { Reply, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import classes from './QuoteNote.module.css';
import type { Quote } from './types.ts';

/** The message that the next one quotes. */
export function QuoteNote({ quote: { name, text }, onEnd }: { quote: Quote; onEnd(): void }) {
  const { t } = useTranslation('composer');
  return (
    <div className={classes.quote}>
      <Reply size={14} aria-hidden className={classes.sign} />
      <Text size="xs" c="dimmed" truncate>
        {t('quote', { name })} {text}
      </Text>
      <ActionIcon variant="subtle" color="gray" size="xs" aria-label={t('quoteEnd')} onClick={onEnd}>
        <X size={14} aria-hidden />
      </ActionIcon>
    </div>
  );
}
