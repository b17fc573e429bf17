import type { Message } from '@parley/client';
import { MessageSquareText } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { dateOfNs, dayAndTime } from '../../base/time.ts';
import { usePane } from '../pane.ts';
import classes from './MessageRow.module.css';

/** Opens the replies of a message. */
export function ThreadLink({ message }: { message: Message }) {
  const { t } = useTranslation('messages');
  const { openThread } = usePane();
  const { reply_count, latest_reply_at } = message;
  return (
    <button type="button" className={classes.thread} onClick={() => openThread(message.id)}>
      <MessageSquareText size={14} aria-hidden />
      <span>{t('row.replies', { count: reply_count })}</span>
      {latest_reply_at !== null && (
        <span className={classes.quiet}>
          {t('row.lastReply', { time: dayAndTime(dateOfNs(latest_reply_at)) })}
        </span>
      )}
    </button>
  );
}
