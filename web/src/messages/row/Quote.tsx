import type { Message } from '@parley/client';
import { CornerUpRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { plainText } from '../../composer/mentions.ts';
import { authorOf } from '../author.ts';
import { usePane } from '../pane.ts';
import classes from './MessageRow.module.css';

/** The message that this one quotes, with a jump to it. */
export function Quote({ message: { reply_to_message: quoted } }: { message: Message }) {
  const { t } = useTranslation('messages');
  const { store } = usePane();
  if (!quoted || quoted.meta.deleted === true)
    return (
      <div className={classes.quote}>
        <span>{t('row.deleted')}</span>
      </div>
    );
  const { name } = authorOf(quoted);
  const text = plainText(quoted.content) || t('row.files');
  return (
    <button
      type="button"
      className={classes.quote}
      onClick={() => void store.jump(quoted.id)}
      aria-label={t('row.toQuote', { name, text })}
    >
      <CornerUpRight size={12} aria-hidden style={{ flex: 'none' }} />
      <span>
        <b>{name}</b> {text}
      </span>
    </button>
  );
}
