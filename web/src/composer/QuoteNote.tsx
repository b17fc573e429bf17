import { ActionIcon, Text } from '@mantine/core';
import type { Message } from '@parley/client';
import { Reply, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { decodeMentions } from './mentions.ts';
import classes from './QuoteNote.module.css';

/** The beginning of a message is enough to know it by. */
const SHOWN = 200;

/** The message that the next one quotes. */
export function QuoteNote({ quote, onEnd }: { quote: Message; onEnd(): void }) {
  const { t } = useTranslation('composer');
  const { text } = decodeMentions(quote.content.slice(0, 2 * SHOWN));
  return (
    <div className={classes.quote}>
      <Reply size={14} aria-hidden className={classes.sign} />
      <Text size="xs" c="dimmed" truncate>
        {t('quote', { name: quote.user?.name ?? t('unknown') })} {text.slice(0, SHOWN)}
      </Text>
      <ActionIcon variant="subtle" color="gray" size="xs" aria-label={t('quoteEnd')} onClick={onEnd}>
        <X size={14} aria-hidden />
      </ActionIcon>
    </div>
  );
}
